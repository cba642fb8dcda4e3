package delivery

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// The openings of the protocols that pods serve, each with its answer's first bytes. They are longer than a signature, so that a server knows at once that none comes.
const (
	zeromq      = "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01NULL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	hello       = `{"do": "hello", "hello": {"version": "this is no version of linerate's, and the answer says so"}}` + "\n"
	askVitals   = "GET /vitals HTTP/1.1\r\nHost: linerate\r\nX-Padding: so that it is longer than a signature\r\n\r\n"
	askForReset = "POST /reset HTTP/1.1\r\nHost: linerate\r\nContent-Length: 0\r\nX-Padding: as long as a signature\r\n\r\n"
)

// within calls a server in the pod's network namespace, and returns the beginning of its answer; of a client without a key all that it hears.
func within(t *testing.T, ns *netif.Namespace, key credential.Key, role credential.Role, port, says string) (heard []byte, err error) {
	t.Helper()
	err = ns.Do(func() error {
		conn, err := key.Dial(t.Context(), role, "127.0.0.1:"+port)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, says); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			return err
		}
		heard = make([]byte, 64)
		n, err := io.ReadAtLeast(conn, heard, 12)
		if key.IsZero() { // all that there is
			var more []byte
			more, err = io.ReadAll(conn)
			heard = append(heard[:n:n], more...)
			return err
		}
		heard = heard[:n]
		return err
	})
	return heard, err
}

// All that pods serve is started as the operator starts it, and called by the attempt's runner and by others that reach it.
func TestWhatPodsServeIsForTheAttemptsRunnerAlone(t *testing.T) {
	needRoot(t)
	key := credential.New()
	const reads = "+net_admin" // of no importance here
	for name, c := range map[string]struct {
		rights string
		role   credential.Role
		port   string
		says   string
		hears  string
		args   []string
	}{
		"the software engine":       {podRights, credential.Control, "4501", zeromq, zeromq[:2], []string{"generator", "--wait", "200ms", "--ports", "west,east", "--speed", "1gbps", "--listen", ":4501"}},
		"an end of sessions":        {"+net_admin,+net_raw", credential.Control, "4501", hello, `{`, []string{"sessions", "--wait", "200ms", "--link", "west", "--interface", "west", "--listen", ":4501"}},
		"vital signs":               {reads, credential.Vitals, "4504", askVitals, "HTTP/1.1 200", []string{"vitals", "--vitals", "127.0.0.1"}},
		"a collector":               {reads, credential.Vitals, "4504", askVitals, "HTTP/1.1 200", []string{"collect", "--vitals", "127.0.0.1", "--observers", "[]"}},
		"a Reference":               {reads, credential.Vitals, "4504", askVitals, "HTTP/1.1 200", []string{"forwarder", "--vitals", "127.0.0.1", "--spec", writeSpec(t, forwarderSpec("16.0.0.0/24", "48.0.0.0/24"))}},
		"a Reference that is reset": {reads, credential.Vitals, "4504", askForReset, "HTTP/1.1 200", []string{"forwarder", "--vitals", "127.0.0.1", "--reset", "--spec", writeSpec(t, forwarderSpec("16.0.0.0/24", "48.0.0.0/24"))}},
		"a device that is reset":    {reads, credential.Vitals, "4504", askForReset, "HTTP/1.1 200", []string{"reset", "--at", "127.0.0.1", "--", "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			ns, far := space(t), space(t)
			cable(t, ns, far)
			pod := contain(t, ns, c.rights, append([]string{c.args[0], "--verifier=" + key.Verifier().String()}, c.args[1:]...)...)
			var heard []byte
			err := errors.New("it was never called")
			for end := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				heard, err = within(t, ns, key, c.role, c.port, c.says)
			}
			if err != nil || !bytes.HasPrefix(heard, []byte(c.hears)) {
				t.Fatalf("the attempt's runner heard %q, %v, and the pod said\n%s", heard, err, pod.talk.String())
			}
			if verb := c.args[0]; verb != "vitals" && verb != "collect" { // which have no probes
				probe(t, ns, pod, verb)
			}
			if _, err := within(t, ns, key.Derive("attempt 1"), c.role, c.port, c.says); !errors.Is(err, credential.ErrRefused) {
				t.Errorf("the runner of another attempt: %v", err)
			}
			heard, _ = within(t, ns, credential.Key{}, c.role, c.port, c.says)
			if len(heard) > 40 || len(heard) > 0 && heard[0] != credential.First {
				t.Errorf("who has no key heard %q", heard)
			}
		})
	}
}

func TestOnlyWhoMayReadTheSecretDrivesAGenerator(t *testing.T) {
	needRoot(t)
	folder, err := os.MkdirTemp("", "linerate-secret") //nolint:usetesting // another user must get in, too
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	program, secret := filepath.Join(folder, "linerate"), filepath.Join(folder, "secret")
	binary, err := os.ReadFile(linerate)
	if err == nil {
		err = errors.Join(os.WriteFile(program, binary, 0o755), os.Chmod(program, 0o755), os.Chmod(folder, 0o755)) // for everybody, as an installed one is
	}
	if err != nil {
		t.Fatal(err)
	}
	ns, far := space(t), space(t)
	cable(t, ns, far)
	generator := exec.CommandContext(t.Context(), program, "generator", "--wait", "200ms", "--ports", "west,east", "--speed", "1gbps", "--plain", "--secret-file", secret)
	said := &strings.Builder{}
	generator.Stderr = said
	generator.Cancel = func() error { return generator.Process.Signal(syscall.SIGTERM) }
	if err := ns.Do(generator.Start); err != nil {
		t.Fatal(err)
	}
	ramp := func(user uint32) (code int, talk string) {
		cmd := exec.CommandContext(t.Context(), program, "ramp", "-s", "127.0.0.1", "--secret-file", secret)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		var out bytes.Buffer
		cmd.Stderr = &out
		err := ns.Do(cmd.Run)
		if _, is := errors.AsType[*exec.ExitError](err); err != nil && !is {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), out.String()
	}
	const got = "the server's port 0 has no destination MAC" // which ramp learns from a server that it may drive
	var code int
	var talk string
	for end := time.Now().Add(30 * time.Second); !strings.Contains(talk, got) && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		code, talk = ramp(0)
	}
	if !strings.Contains(talk, got) {
		t.Fatalf("its owner: exit code %d, %s", code, talk)
	}
	if info, err := os.Stat(secret); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret: %v, %v", info, err)
	}
	if code, talk := ramp(65534); code != 3 || !strings.Contains(talk, "serves only who has its secret: open "+secret+": permission denied") {
		t.Errorf("another user: exit code %d, %s", code, talk)
	}
	_ = generator.Process.Signal(syscall.SIGTERM)
	_ = generator.Wait()
	if want := fmt.Sprintf("only who may read %s is served", secret); !strings.Contains(said.String(), want) {
		t.Errorf("%q isn't among what it said:\n%s", want, said.String())
	}
}
