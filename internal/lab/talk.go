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

// After the order and its status, parent and child say one thing more to each other, as often as the parent likes, a line each: which frames did
// the forwarder's limits take?
//
//	parent  ── order ──────────── question 1 ──────────── question 2 ─ ─ ▶ end of file: stop
//	child   ────────── status ──────────────── answer 1 ──────────── ─ ─ ▶

// question asks what the limits counted. The number tells a late answer from one to a later question.
type question struct {
	Number int `json:"number"`
}

// answer is what they counted by then, or why nobody knows.
type answer struct {
	Number int               `json:"number"`
	Taken  []forwarder.Taken `json:"taken,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// Taken is what the Reference's limits counted since the lab was built, in the order of the topology's directions and named by its links. Without
// a limit it is empty.
func (l *Lab) Taken(ctx context.Context) ([]forwarder.Taken, error) {
	if l.topology.Kind != Reference || l.topology.Limit == nil {
		return nil, nil
	}
	l.asking.Lock()
	defer l.asking.Unlock()
	l.asked++
	if err := json.NewEncoder(l.child.life).Encode(question{l.asked}); err != nil {
		return nil, fmt.Errorf("ask the lab what its limits took: %w", err)
	}
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("ask the lab what its limits took: %w", context.Cause(ctx))
		case a, there := <-l.answers:
			switch {
			case !there:
				return nil, errors.New("ask the lab what its limits took: it has ended")
			case a.Number != l.asked: // nobody waited for that one any more
			case a.Error != "":
				return nil, errors.New(a.Error)
			default:
				return l.byLink(a.Taken), nil
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
func converse(questions io.Reader, answers io.Writer, taken func() ([]forwarder.Taken, error)) {
	decoder := json.NewDecoder(bufio.NewReader(questions))
	for {
		var q question
		if err := decoder.Decode(&q); err != nil {
			return
		}
		a := answer{Number: q.Number}
		var err error
		if a.Taken, err = taken(); err != nil {
			a.Error = err.Error()
		}
		if err := json.NewEncoder(answers).Encode(a); err != nil {
			return
		}
	}
}
