package kubectl

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// sits starts a command on a terminal of 100 by 30 characters; the terminal's other end is returned.
func (p *person) sits(line string) (*started, *os.File) {
	p.Helper()
	return p.sitsAt(unix.Winsize{Row: 30, Col: 100}, line)
}

// sitsAt starts a command on a terminal of this size.
func (p *person) sitsAt(size unix.Winsize, line string) (*started, *os.File) {
	p.Helper()
	desk, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	p.must(err)
	p.Cleanup(func() { _ = desk.Close() })
	p.must(unix.IoctlSetPointerInt(int(desk.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(desk.Fd()), unix.TIOCGPTN)
	p.must(err)
	p.must(unix.IoctlSetWinsize(int(desk.Fd()), unix.TIOCSWINSZ, &size))
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	p.must(err)
	defer func() { _ = screen.Close() }() // the program has it, too
	ctx, stop := context.WithTimeout(p.Context(), 2*patience)
	s := &started{person: p, line: line, cmd: p.command(ctx, line), out: newRecord(), talk: newRecord(), read: make(chan struct{}), stop: stop}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = screen, screen, screen
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p.must(s.cmd.Start())
	p.Cleanup(stop)
	go func() { // until the program ends, and its terminal with it
		defer close(s.read)
		page := make([]byte, 4096)
		for {
			n, err := desk.Read(page)
			_, _ = s.out.Write(page[:n])
			if err != nil {
				return
			}
		}
	}()
	return s, desk
}

// press types on the terminal.
func (p *person) press(desk *os.File, keys string) {
	p.Helper()
	_, err := desk.WriteString(keys)
	p.must(err)
}

const ctrlC = "\x03"

func TestOnATerminal(t *testing.T) {
	t.Run("progress is one line that is drawn again, and is gone at the end", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run, _ := p.sits("kubectl linerate run test.yaml")
		run.out.await(t, "waiting for the operator")
		p.saysProgress("vpp-imix", 25)
		run.out.await(t, "vpp-imix ▕█████░░░░░░░░░░░░░░░▏  25 %  ramping 5/20: asked 20.00 kpps, sent 19.99 kpps, received 1")
		p.saysMeasured("vpp-imix", passed)
		r := run.ends()
		r.wants(t, 0, ": 152 kpps west→east", "")
		if _, last, _ := cutLast(r.out, "\x1b[1A\r\x1b[J"); !strings.HasPrefix(last, "\x1b[1mOpenBSD 64b") {
			t.Errorf("the answer isn't alone:\n%q", last)
		}
		for line := range strings.Lines(strings.ReplaceAll(regexp.MustCompile("\x1b\\[[0-9]*[A-Z]").ReplaceAllString(r.out, ""), "\r", "\n")) {
			if n := len([]rune(line)); n > 101 {
				t.Errorf("%d characters in a line: %q", n, line)
			}
		}
	})
	t.Run("Ctrl-C asks; Enter goes on, s stops and waits for the table", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run, desk := p.sits("kubectl linerate run test.yaml")
		run.out.await(t, "waiting for the operator")
		p.press(desk, ctrlC)
		run.out.await(t, "l: leave it running, s: stop it and keep what it measured, d: delete it, Enter: go on watching? ")
		p.press(desk, "\n")
		p.saysRunning("vpp-imix", 10)
		run.out.await(t, "10 %")
		p.press(desk, ctrlC)
		run.out.awaitTimes(t, "watching? ", 2)
		p.press(desk, "what?\n")
		run.out.awaitTimes(t, "watching? ", 3)
		p.press(desk, "s\n")
		run.out.await(t, "vpp-imix: stopping")
		p.until("stop", func() bool { return p.test("vpp-imix").Spec.Stop })
		p.saysMeasured("vpp-imix", interrupted)
		run.ends().wants(t, 130, ": 152 kpps west→east", "")
	})
	t.Run("Ctrl-C, d deletes it", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run, desk := p.sits("kubectl linerate run test.yaml")
		run.out.await(t, "waiting for the operator")
		p.press(desk, ctrlC)
		run.out.await(t, "watching? ")
		p.press(desk, "d\n")
		run.ends().wants(t, 130, "vpp-imix: deleted", "")
		if err := admin.Get(t.Context(), client.ObjectKey{Namespace: p.namespace, Name: "vpp-imix"}, &v1alpha1.LoadTest{}); !apierrors.IsNotFound(err) {
			t.Errorf("it is still there: %v", err)
		}
	})
	for name, keys := range map[string]string{"l leaves it": "l\n", "Ctrl-C again leaves it": ctrlC, "the end of input leaves it": "\x04"} {
		t.Run("Ctrl-C, "+name, func(t *testing.T) {
			p := newPerson(t)
			p.write("test.yaml", aTest)
			run, desk := p.sits("kubectl linerate run test.yaml")
			run.out.await(t, "waiting for the operator")
			p.press(desk, ctrlC)
			run.out.await(t, "watching? ")
			p.press(desk, keys)
			run.ends().wants(t, 130, "vpp-imix goes on by itself", "")
			if p.test("vpp-imix").Spec.Stop {
				t.Error("it was stopped")
			}
		})
	}
	t.Run("a test that ends while the question stands is printed", func(t *testing.T) {
		p := newPerson(t)
		p.write("test.yaml", aTest)
		run, desk := p.sits("kubectl linerate run test.yaml")
		run.out.await(t, "waiting for the operator")
		p.press(desk, ctrlC)
		run.out.await(t, "watching? ")
		p.saysMeasured("vpp-imix", passed)
		run.ends().wants(t, 0, ": 152 kpps west→east", "")
	})
	t.Run("watch ends at once: it doesn't own the test", func(t *testing.T) {
		p := newPerson(t)
		p.creates("vpp-imix")
		run, desk := p.sits("kubectl linerate watch vpp-imix")
		run.out.await(t, "waiting for the operator")
		p.press(desk, ctrlC)
		run.ends().wants(t, 130, "vpp-imix goes on by itself", "")
	})
}

// cutLast cuts around the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
