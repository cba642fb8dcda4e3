package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/forwarder"
)

// After the order and its status, parent and child say more to each other, as often as the parent likes, a line each: which frames did the forwarder's
// limits take? and: reset the forwarder.
//
//	parent  ── order ──────────── question 1 ──────────── question 2 ─ ─ ▶ end of file: stop
//	child   ────────── status ──────────────── answer 1 ──────────── ─ ─ ▶

// question asks what the limits counted, or for a reset. The number tells a late answer from one to a later question.
type question struct {
	Number int  `json:"number"`
	Reset  bool `json:"reset,omitempty"`
}

// answer is what they counted by then, or what the reset did; or why nobody knows.
type answer struct {
	Number int               `json:"number"`
	Taken  []forwarder.Taken `json:"taken,omitempty"`
	Did    string            `json:"did,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// Taken is what the Reference's limits counted since the lab was built, in the order of the topology's directions and named by its links. Without
// a limit it is empty.
func (l *Lab) Taken(ctx context.Context) ([]forwarder.Taken, error) {
	if l.topology.Kind != Reference || l.topology.Limit == nil {
		return nil, nil
	}
	a, err := l.ask(ctx, question{}, "ask the lab what its limits took")
	return l.byLink(a.Taken), err
}

// Reset has the Reference forget what it learned, and says what that was.
func (l *Lab) Reset(ctx context.Context) (string, error) {
	if l.topology.Kind != Reference {
		return "", fmt.Errorf("a lab of a %s has no Reference to reset", l.topology.Kind)
	}
	a, err := l.ask(ctx, question{Reset: true}, "have the lab reset its Reference")
	return a.Did, err
}

// ask asks one question at a time, and waits for its answer.
func (l *Lab) ask(ctx context.Context, q question, what string) (answer, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	l.asked++
	q.Number = l.asked
	if err := json.NewEncoder(l.child.life).Encode(q); err != nil {
		return answer{}, fmt.Errorf("%s: %w", what, err)
	}
	for {
		select {
		case <-ctx.Done():
			return answer{}, fmt.Errorf("%s: %w", what, context.Cause(ctx))
		case a, there := <-l.answers:
			switch {
			case !there:
				return answer{}, fmt.Errorf("%s: it has ended", what)
			case a.Number != l.asked: // nobody waited for that one any more
			case a.Error != "":
				return answer{}, errors.New(a.Error)
			default:
				return a, nil
			}
		}
	}
}

// byLink names the links where the forwarder knows interfaces.
func (l *Lab) byLink(all []forwarder.Taken) []forwarder.Taken {
	for i, d := range l.topology.Directions {
		if i < len(all) {
			all[i].From, all[i].To = d.From, d.To
		}
	}
	return all
}

// hear hands on what the child answers, until it has ended or the lab is closed.
func (l *Lab) hear(from *json.Decoder) {
	defer close(l.answers)
	for {
		var a answer
		if err := from.Decode(&a); err != nil {
			return
		}
		select {
		case l.answers <- a:
		case <-l.left:
			return
		}
	}
}

// converse is the child's part: it answers until the parent has ended, or has closed its end.
func converse(questions io.Reader, answers io.Writer, reply func(question) (answer, error)) {
	decoder := json.NewDecoder(bufio.NewReader(questions))
	for {
		var q question
		if err := decoder.Decode(&q); err != nil {
			return
		}
		a, err := reply(q)
		if err != nil {
			a = answer{Error: err.Error()}
		}
		a.Number = q.Number
		if err := json.NewEncoder(answers).Encode(a); err != nil {
			return
		}
	}
}
