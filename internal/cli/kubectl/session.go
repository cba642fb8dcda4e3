package kubectl

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// What becomes of tests when a signal comes.
const (
	interruptAsk    = "ask" // where a person can be asked; else leave
	interruptLeave  = "leave"
	interruptStop   = "stop"
	interruptDelete = "delete"
)

// actTimeout bounds what a person waits for after an answer.
const actTimeout = 20 * time.Second

const question = "\nIt goes on by itself. l: leave it running, s: stop it and keep what it measured, d: delete it, Enter: go on watching? "

// session follows tests to their end, with a person who may lose patience.
type session struct {
	cluster     *cluster
	talk        Options
	board       *board
	objects     []client.Object // tests and suites as last seen; one that is gone stays as it was
	over        []bool
	wrong       []error
	onInterrupt string
	signals     <-chan os.Signal
	// judges: the verdict comes at the end, and not from the suites.
	judges bool

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
	return &session{cluster: c, talk: o, board: newBoard(o, false, names), objects: objects, over: make([]bool, len(objects)),
		onInterrupt: interruptLeave, signals: signals, answers: make(chan string, 1)}
}

// run follows until all have ended, or the person leaves. left says the latter.
func (s *session) run(ctx context.Context, patience time.Duration) (left bool) {
	ctx, end := context.WithCancel(ctx)
	all := s.cluster.follow(ctx, s.objects, patience)
	defer func() {
		end()
		for range all { // until it is closed
		}
		s.board.clear()
	}()
	for {
		select {
		case n, more := <-all:
			if !more {
				return false
			}
			s.take(n)
		case signal := <-s.signals:
			left = s.interrupted(ctx, signal)
		case answer := <-s.answers:
			s.asking = false
			s.board.held = false
			left = s.answered(ctx, answer)
		}
		if left {
			return true
		}
	}
}

func (s *session) take(n news) {
	now := n.moment.object()
	switch {
	case n.err != nil:
		s.wrong = append(s.wrong, n.err)
	case n.outage != "":
		s.board.say("%s", n.outage)
		return
	case now == nil:
		s.wrong = append(s.wrong, exit.NotMeasured("%s was deleted, and its Report with it", s.objects[n.of].GetName()))
	default:
		s.objects[n.of] = now
	}
	for _, words := range n.told {
		s.board.tell(words)
	}
	s.over[n.of] = n.last()
	if n.err == nil {
		if m, is := n.moment.(suiteMoment); is {
			m.unjudged = s.judges
			n.moment = m
		}
		s.board.show(n.of, n.moment)
	}
}

// interrupted decides what a signal means: the second one, and one that isn't Ctrl-C, ask no questions.
func (s *session) interrupted(ctx context.Context, signal os.Signal) (left bool) {
	switch {
	case s.asking || s.stopping:
		return s.leave()
	case s.onInterrupt == interruptAsk && signal == syscall.SIGINT && s.talk.asks():
		s.ask()
		return false
	case s.onInterrupt == interruptAsk:
		return s.leave()
	}
	return s.do(ctx, s.onInterrupt)
}

// ask asks, and goes on following meanwhile.
func (s *session) ask() {
	s.asking = true
	s.board.hold()
	io.WriteString(s.talk.Err, question) //nolint:errcheck // there is nobody to tell that it could not be told
	if s.lines == nil {
		s.lines = bufio.NewReader(s.talk.In)
	}
	go func() { // ends with the process at the latest: a terminal can't be told not to be read any more
		line, err := s.lines.ReadString('\n')
		if err != nil && line == "" {
			line = interruptLeave
		}
		s.answers <- line
	}()
}

func (s *session) answered(ctx context.Context, answer string) (left bool) {
	switch answer = strings.ToLower(strings.TrimSpace(answer)); {
	case answer == "":
		s.board.release()
		return false
	case strings.HasPrefix(interruptLeave, answer):
		return s.leave()
	case strings.HasPrefix(interruptStop, answer):
		return s.do(ctx, interruptStop)
	case strings.HasPrefix(interruptDelete, answer):
		return s.do(ctx, interruptDelete)
	}
	s.ask()
	return false
}

// do stops or deletes what hasn't ended.
func (s *session) do(ctx context.Context, what string) (left bool) {
	ctx, end := context.WithTimeout(ctx, actTimeout)
	defer end()
	switch what {
	case interruptStop:
		s.stopping = true
		s.each(func(o client.Object) error { return s.cluster.stop(ctx, o) }, "%s: stopping; Ctrl-C again doesn't wait for that")
		return false
	case interruptDelete:
		s.each(func(o client.Object) error { return s.cluster.remove(ctx, o) }, "%s: deleted")
		return true
	}
	return s.leave()
}

func (s *session) each(act func(client.Object) error, words string) {
	for i, o := range s.objects {
		if s.over[i] {
			continue
		}
		if err := act(o); err != nil {
			s.wrong = append(s.wrong, err)
			continue
		}
		s.board.say(words, o.GetName())
	}
}

// leave says how to find back.
func (s *session) leave() bool {
	for i, o := range s.objects {
		switch {
		case s.over[i]:
		case s.stopping:
			s.board.say("%[1]s is being stopped: kubectl linerate watch %[1]s -n %[2]s follows it to its end", o.GetName(), o.GetNamespace())
		default:
			s.board.say("%[1]s goes on by itself: kubectl linerate watch %[1]s -n %[2]s follows it, kubectl linerate stop %[1]s -n %[2]s ends it", o.GetName(), o.GetNamespace())
		}
	}
	return true
}

// ended are the tests and suites that have ended and are still there.
func (s *session) ended() []client.Object {
	var ended []client.Object
	for _, o := range s.objects {
		if endOf(o) != nil {
			ended = append(ended, o)
		}
	}
	return ended
}
