package kubectl

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
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

const question = "\nThe test goes on by itself. l: leave it running, s: stop it and keep what it measured, d: delete it, Enter: go on watching? "

// session follows tests to their end, with a person who may lose patience.
type session struct {
	cluster     *cluster
	talk        Options
	board       *board
	tests       []*v1alpha1.LoadTest // as last seen; one that is gone stays as it was
	over        []bool
	wrong       []error
	onInterrupt string
	signals     <-chan os.Signal

	asking   bool
	stopping bool
	answers  chan string
	lines    *bufio.Reader
}

func newSession(c *cluster, o Options, tests []*v1alpha1.LoadTest, signals <-chan os.Signal) *session {
	names := make([]string, len(tests))
	for i, test := range tests {
		names[i] = test.Name
	}
	return &session{cluster: c, talk: o, board: newBoard(o, false, names), tests: tests, over: make([]bool, len(tests)),
		onInterrupt: interruptLeave, signals: signals, answers: make(chan string, 1)}
}

// run follows until all have ended, or the person leaves. left says the latter.
func (s *session) run(ctx context.Context, patience time.Duration) (left bool) {
	ctx, end := context.WithCancel(ctx)
	all := s.cluster.follow(ctx, s.tests, patience)
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
	switch {
	case n.err != nil:
		s.wrong = append(s.wrong, n.err)
	case n.outage != "":
		s.board.say("%s", n.outage)
		return
	case n.moment.test == nil:
		s.wrong = append(s.wrong, notMeasured("%s was deleted, and its Report with it", s.tests[n.of].Name))
	default:
		s.tests[n.of] = n.moment.test
	}
	s.over[n.of] = n.last()
	if n.err == nil {
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
		s.each(func(test *v1alpha1.LoadTest) error { return s.cluster.stop(ctx, test) }, "%s: stopping; Ctrl-C again doesn't wait for that")
		return false
	case interruptDelete:
		s.each(func(test *v1alpha1.LoadTest) error { return s.cluster.remove(ctx, test) }, "%s: deleted")
		return true
	}
	return s.leave()
}

func (s *session) each(act func(*v1alpha1.LoadTest) error, words string) {
	for i, test := range s.tests {
		if s.over[i] {
			continue
		}
		if err := act(test); err != nil {
			s.wrong = append(s.wrong, err)
			continue
		}
		s.board.say(words, test.Name)
	}
}

// leave says how to find back.
func (s *session) leave() bool {
	for i, test := range s.tests {
		if !s.over[i] {
			s.board.say("%[1]s goes on by itself: kubectl linerate watch %[1]s -n %[2]s follows it, kubectl linerate stop %[1]s -n %[2]s ends it", test.Name, test.Namespace)
		}
	}
	return true
}

// ended are the tests that have ended and are still there.
func (s *session) ended() []*v1alpha1.LoadTest {
	var ended []*v1alpha1.LoadTest
	for _, test := range s.tests {
		if endOf(test) != nil {
			ended = append(ended, test)
		}
	}
	return ended
}
