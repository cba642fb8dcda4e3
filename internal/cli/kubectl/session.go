package kubectl

import (
	"bufio"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// The values of --on-interrupt, which say what a signal does to tests.
const (
	interruptAsk    = "ask" // ask the person, if there is one; otherwise leave
	interruptLeave  = "leave"
	interruptStop   = "stop"
	interruptDelete = "delete"
)

// actTimeout bounds how long stopping or deleting may take while a person waits.
const actTimeout = 20 * time.Second

const question = "\nThe test goes on by itself. l: leave it running, s: stop it and keep what it measured, d: delete " +
	"it, Enter: go on watching? "

// session follows tests and suites to their end. The person who follows them may end the session earlier.
type session struct {
	cluster     *cluster
	talk        Options
	board       *board
	objects     []client.Object // tests and suites as last seen, also those that were deleted since
	finished    []bool
	errs        []error
	onInterrupt string
	signals     <-chan os.Signal
	judges      bool // a gate gives the verdict at the end, so suites' own verdicts aren't shown

	asking   bool
	stopping bool
	answers  chan string
	lines    *bufio.Reader
}

func newSession(c *cluster, o Options, objects []client.Object, signals <-chan os.Signal) *session {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = o.GetName()
	}
	return &session{
		cluster: c, talk: o, board: newBoard(o, false, names), objects: objects, finished: make([]bool, len(objects)),
		onInterrupt: interruptLeave, signals: signals, answers: make(chan string, 1),
	}
}

// run follows until all tests and suites have ended, or the person leaves. Only the latter returns true.
func (s *session) run(ctx context.Context, patience time.Duration) (leaves bool) {
	ctx, end := context.WithCancel(ctx)
	updates := s.cluster.follow(ctx, s.objects, patience)
	defer func() {
		end()
		for range updates { // drain the channel until its senders have ended
		}
		s.board.clear()
	}()
	for !leaves {
		select {
		case n, open := <-updates:
			if !open {
				return false
			}
			s.handle(n)
		case signal := <-s.signals:
			leaves = s.interrupt(ctx, signal)
		case answer := <-s.answers:
			s.asking = false
			s.board.paused = false
			leaves = s.handleAnswer(ctx, answer)
		}
	}
	return true
}

func (s *session) handle(n update) {
	object := n.moment.object()
	switch {
	case n.err != nil:
		s.errs = append(s.errs, n.err)
	case n.outage != "":
		s.board.say("%s", n.outage)
		return
	case object == nil:
		s.errs = append(s.errs, exit.NotMeasured("%s was deleted, and its Report with it",
			s.objects[n.index].GetName()))
	default:
		s.objects[n.index] = object
	}
	for _, message := range n.messages {
		s.board.print(message)
	}
	s.finished[n.index] = n.isLast()
	if n.err == nil {
		if m, ok := n.moment.(suiteMoment); ok {
			m.unjudged = s.judges
			n.moment = m
		}
		s.board.show(n.index, n.moment)
	}
}

// interrupt handles a signal. It asks no question at a second signal, or at one that isn't Ctrl-C.
func (s *session) interrupt(ctx context.Context, signal os.Signal) (leaves bool) {
	switch {
	case s.asking || s.stopping:
		return s.leave()
	case s.onInterrupt == interruptAsk && signal == syscall.SIGINT && s.talk.asks():
		s.ask()
		return false
	}
	return s.act(ctx, s.onInterrupt)
}

// ask prints the question, and reads the answer while the session goes on following.
func (s *session) ask() {
	s.asking = true
	s.board.pause()
	io.WriteString(s.talk.Stderr, question) //nolint:errcheck // there is no other place to report it
	if s.lines == nil {
		s.lines = bufio.NewReader(s.talk.Stdin)
	}
	go func() { // reading from a terminal can't be cancelled, so this may last as long as the process
		line, err := s.lines.ReadString('\n')
		if err != nil && line == "" {
			line = interruptLeave
		}
		s.answers <- line
	}()
}

func (s *session) handleAnswer(ctx context.Context, answer string) (leaves bool) {
	answer = strings.ToLower(strings.TrimSpace(answer))
	if answer == "" {
		s.board.resume()
		return false
	}
	for _, action := range []string{interruptLeave, interruptStop, interruptDelete} {
		if strings.HasPrefix(action, answer) {
			return s.act(ctx, action)
		}
	}
	s.ask()
	return false
}

// act stops, deletes or leaves the objects that haven't ended.
func (s *session) act(ctx context.Context, action string) (leaves bool) {
	ctx, end := context.WithTimeout(ctx, actTimeout)
	defer end()
	switch action {
	case interruptStop:
		s.stopping = true
		s.forEachUnfinished("%s: stopping; press Ctrl-C again to leave at once",
			func(o client.Object) error { return s.cluster.stop(ctx, o) })
		return false
	case interruptDelete:
		s.forEachUnfinished("%s: deleted", func(o client.Object) error {
			return s.cluster.explainOf(kindOf(o), "delete", client.ObjectKeyFromObject(o), s.cluster.remove(ctx, o))
		})
		return true
	}
	return s.leave()
}

// forEachUnfinished calls act with each object that hasn't ended, and prints its name in message.
func (s *session) forEachUnfinished(message string, act func(client.Object) error) {
	for i, o := range s.objects {
		if s.finished[i] {
			continue
		}
		if err := act(o); err != nil {
			s.errs = append(s.errs, err)
			continue
		}
		s.board.say(message, o.GetName())
	}
}

// leave prints how to follow the tests again.
func (s *session) leave() (leaves bool) {
	for i, o := range s.objects {
		switch {
		case s.finished[i]:
		case s.stopping:
			s.board.say("%[1]s is being stopped: kubectl linerate watch %[1]s -n %[2]s follows it to its end",
				o.GetName(), o.GetNamespace())
		default:
			s.board.say("%[1]s goes on by itself: kubectl linerate watch %[1]s -n %[2]s follows it, kubectl linerate "+
				"stop %[1]s -n %[2]s ends it",
				o.GetName(), o.GetNamespace())
		}
	}
	return true
}

// ended returns the tests and suites that have ended and weren't deleted.
func (s *session) ended() []client.Object {
	return slices.DeleteFunc(slices.Clone(s.objects), func(o client.Object) bool { return endOf(o) == nil })
}
