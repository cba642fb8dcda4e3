package collect_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/collect"
	"github.com/linerate-dev/linerate/test/rigs/sshtest"
)

// sshServer is a device that is asked by SSH.
type sshServer struct{ *sshtest.Server }

func newSSHServer(t *testing.T) sshServer {
	t.Helper()
	return sshServer{sshtest.NewServer(t)}
}

// secrets are a Secret for this server, with these keys otherwise ("" leaves one out).
func (s sshServer) secrets(t *testing.T, otherwise map[string]string) collect.Folder {
	t.Helper()
	files := map[string]string{"fw/username": "lab", "fw/ssh-privatekey": s.ClientKey, "fw/known_hosts": s.KnownHost()}
	for name, text := range otherwise {
		if files[name] = text; text == "" {
			delete(files, name)
		}
	}
	return secrets(t, files)
}

func (s sshServer) observer(command string) plan.Observer {
	return plan.Observer{SSH: &plan.SSHCommand{Address: s.Address, Command: command, Unit: "°C", Secret: "fw"}}
}

func TestACommandsNumberIsReadBySSH(t *testing.T) {
	s := newSSHServer(t)
	a := answered(t, s.observer("echo ' 41.5 '"), s.secrets(t, nil))
	if n := number(t, a, "value", ""); n.Value != 41.5 || n.Unit != "°C" {
		t.Errorf("%+v", n)
	}
	byPassword := s.secrets(t, map[string]string{"fw/ssh-privatekey": "", "fw/password": sshtest.Password})
	if n := number(t, answered(t, s.observer("echo -3e1"), byPassword), "value", ""); n.Value != -30 {
		t.Errorf("%+v", n)
	}
}

func TestWhatIsNotReadBySSHSaysWhy(t *testing.T) {
	s := newSSHServer(t)
	other, otherKey := sshtest.NewKey(t)
	for name, c := range map[string]struct {
		command   string
		otherwise map[string]string
		want      string
	}{
		"words":           {"echo cool", nil, `it printed "cool", which isn't one number`},
		"two numbers":     {"echo 1; echo 2", nil, "which isn't one number"},
		"nothing":         {"true", nil, `it printed "", which isn't one number`},
		"infinity":        {"echo inf", nil, "which isn't one number"},
		"it fails":        {"echo no such sensor >&2; exit 3", nil, "the command ended with code 3: no such sensor"},
		"another key":     {"echo 1", map[string]string{"fw/ssh-privatekey": otherKey}, "it doesn't take user lab with what secret fw has"},
		"a wrong word":    {"echo 1", map[string]string{"fw/ssh-privatekey": "", "fw/password": "wrong"}, "it doesn't take user lab"},
		"another machine": {"echo 1", map[string]string{"fw/known_hosts": knownhosts.Line([]string{s.Address}, other.PublicKey())}, "its key is another than the one in known_hosts of secret fw"},
		"an unknown one":  {"echo 1", map[string]string{"fw/known_hosts": knownhosts.Line([]string{"other:22"}, s.Key.PublicKey())}, "known_hosts has no key of " + s.Address},
		"no known_hosts":  {"echo 1", map[string]string{"fw/known_hosts": ""}, "without which anybody could answer"},
		"no user":         {"echo 1", map[string]string{"fw/username": ""}, "secret fw has no key username"},
		"no key":          {"echo 1", map[string]string{"fw/ssh-privatekey": ""}, "neither ssh-privatekey nor password"},
		"not a key":       {"echo 1", map[string]string{"fw/ssh-privatekey": "abc"}, "give a key without a passphrase"},
	} {
		t.Run(name, func(t *testing.T) {
			missing(t, answered(t, s.observer(c.command), s.secrets(t, c.otherwise)), c.want)
		})
	}
}

func TestACommandMayPrintMuch(t *testing.T) {
	s := newSSHServer(t)
	missing(t, answered(t, s.observer("head -c 100000 /dev/zero | tr '\\0' 1"), s.secrets(t, nil)), "isn't one number")
}

// A handshake takes a small device longer than the command, so the connection is kept.
func TestReadingsShareAConnection(t *testing.T) {
	s := newSSHServer(t)
	o := s.observer("echo 1")
	o.Name, o.Interval = "power", plan.Duration(10*time.Millisecond)
	c := collect.Start(t.Context(), []plan.Observer{o}, s.secrets(t, nil))
	defer c.Close()
	seen := map[time.Duration]bool{}
	for end := time.Now().Add(time.Minute); len(seen) < 4; time.Sleep(5 * time.Millisecond) {
		if _, answers := c.Answers(); answers[0].At > 0 && answers[0].Missing == "" {
			seen[answers[0].At] = true
		}
		if time.Now().After(end) {
			t.Fatal("fewer than four readings within a minute")
		}
	}
	if n := s.Handshakes.Load(); n != 1 {
		t.Errorf("%d handshakes for %d readings", n, len(seen))
	}
}

func TestSecretsOfSSHStandInNoAnswer(t *testing.T) {
	s := newSSHServer(t)
	a := answered(t, s.observer("echo x"), s.secrets(t, map[string]string{"fw/ssh-privatekey": "", "fw/password": "hunter2"}))
	if strings.Contains(a.Missing, "hunter2") {
		t.Error(a.Missing)
	}
}
