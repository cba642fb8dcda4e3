package kubectl

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patience bounds all that is waited for.
const patience = 60 * time.Second

// person types commands in a folder and a namespace of their own.
type person struct {
	*testing.T
	namespace string
	dir       string
	config    string // kubeconfig file
	// seat is how large the terminal is that commands are typed on; nil: their output goes into pipes.
	seat *unix.Winsize
	env  []string // beside the test's own
}

func newPerson(t *testing.T) *person {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}
	if err := admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	p := &person{T: t, namespace: namespace.Name, dir: t.TempDir()}
	p.writeConfig(environment.KubeConfig, "")
	return p
}

// writeConfig makes the person's kubeconfig, with their namespace; server replaces its server where given.
func (p *person) writeConfig(text []byte, server string) {
	p.Helper()
	config, err := clientcmd.Load(text)
	p.must(err)
	for _, c := range config.Contexts {
		c.Namespace = p.namespace
	}
	for _, c := range config.Clusters {
		if server != "" {
			c.Server = server
		}
	}
	p.config = filepath.Join(p.dir, "kubeconfig")
	p.must(clientcmd.WriteToFile(*config, p.config))
}

// become makes the person another user, without rights.
func (p *person) become(user string) {
	p.Helper()
	config, err := clientcmd.LoadFromFile(p.config)
	p.must(err)
	for name := range config.AuthInfos {
		config.AuthInfos[name] = with(config.AuthInfos[name], user)
	}
	p.must(clientcmd.WriteToFile(*config, p.config))
}

func with(info *clientcmdapi.AuthInfo, user string) *clientcmdapi.AuthInfo {
	info = info.DeepCopy()
	info.Impersonate, info.ImpersonateGroups = user, []string{"system:authenticated"}
	return info
}

func (p *person) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// write makes a file in the person's folder.
func (p *person) write(name, text string) {
	p.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// command is a program with its arguments: "kubectl linerate …" is what kubectl makes of it.
func (p *person) command(ctx context.Context, line string) *exec.Cmd {
	p.Helper()
	words := strings.Fields(line)
	if len(words) > 1 && words[0] == "kubectl" && words[1] == "linerate" {
		words = append([]string{"kubectl-linerate"}, words[2:]...)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(programs, words[0]), words[1:]...)
	cmd.Dir = p.dir
	cmd.Env = append(append(os.Environ(), "KUBECONFIG="+p.config, "HOME="+p.dir), p.env...)
	return cmd
}

// result is what became of a command.
type result struct {
	line, out, talk string
	code            int
	onTerminal      bool // out and talk are the same
}

// types runs a command to its end.
func (p *person) types(line string) result {
	p.Helper()
	return p.starts(line).ends()
}

// started is a command that runs.
type started struct {
	person *person
	line   string
	cmd    *exec.Cmd
	out    *record
	talk   *record
	read   chan struct{} // closed when all of a terminal's text is read; nil without one
	stop   func()
}

// starts begins a command whose output goes into pipes, or onto the person's terminal: there all of it is stdout's, and stderr's, too.
func (p *person) starts(line string) *started {
	p.Helper()
	if p.seat != nil {
		s, _ := p.sitsAt(*p.seat, line)
		s.talk = s.out
		return s
	}
	ctx, stop := context.WithTimeout(p.Context(), 2*patience)
	s := &started{person: p, line: line, cmd: p.command(ctx, line), out: newRecord(), talk: newRecord(), stop: stop}
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.talk
	p.must(s.cmd.Start())
	p.Cleanup(stop)
	return s
}

// ends waits for the end.
func (s *started) ends() result {
	s.person.Helper()
	defer s.stop()
	err := s.cmd.Wait()
	if s.read != nil {
		<-s.read
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		s.person.Fatalf("%s: %v", s.line, err)
	}
	r := result{s.line, s.out.String(), s.talk.String(), s.cmd.ProcessState.ExitCode(), s.read != nil}
	if regexp.MustCompile(`(?m)^[EFIW]\d{4} \d\d:\d\d:`).MatchString(r.talk) {
		s.person.Errorf("%s: a library's log reached a person:\n%s", s.line, r.talk)
	}
	if strings.Contains(r.talk, "goroutine ") || strings.Contains(r.talk, "panic:") {
		s.person.Errorf("%s: a stack trace reached a person:\n%s", s.line, r.talk)
	}
	return r
}

// record keeps what is written, and lets others wait for words in it.
type record struct {
	mutex   sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed at the next write
}

func newRecord() *record { return &record{changed: make(chan struct{})} }

func (r *record) Write(p []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.String()
}

// await returns when the words are there.
func (r *record) await(t *testing.T, words string) {
	t.Helper()
	r.awaitTimes(t, words, 1)
}

// awaitTimes returns when the words are there so many times.
func (r *record) awaitTimes(t *testing.T, words string, times int) {
	t.Helper()
	limit := time.After(patience)
	for {
		r.mutex.Lock()
		there, changed := strings.Count(r.text.String(), words) >= times, r.changed
		r.mutex.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-limit:
			t.Fatalf("%q isn't said in\n%s", words, r.String())
		}
	}
}

// wants checks an exit code and words of both outputs.
func (r result) wants(t *testing.T, code int, out, talk string) {
	t.Helper()
	if r.code != code {
		t.Errorf("%s: exit code %d, want %d", r.line, r.code, code)
	}
	if !strings.Contains(r.out, out) || out == "" && r.out != "" && !r.onTerminal {
		t.Errorf("%s: stdout has no %q:\n%s", r.line, out, r.out)
	}
	if !strings.Contains(r.talk, talk) {
		t.Errorf("%s: stderr has no %q:\n%s", r.line, talk, r.talk)
	}
	if t.Failed() {
		t.Logf("%s: exit %d\nstdout: %s\nstderr: %s", r.line, r.code, r.out, r.talk)
	}
}

func keyOf(p *person, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: p.namespace, Name: name}
}
