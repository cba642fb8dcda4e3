package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/host/reception"
)

// After order and status, the parent may send questions, a line each, and the child answers each with a line. A
// question asks what the forwarder's limits counted, for a reset of the forwarder, or where it receives frames.
//
//	parent  ── order ──────────── question 1 ──────────── question 2 ─ ─ ▶ end of file: stop
//	child   ────────── status ──────────────── answer 1 ──────────── ─ ─ ▶

// question asks what the limits counted, or for a reset. Its number shows which question an answer belongs to,
// as an answer may be late.
type question struct {
	Number int  `json:"number"`
	Reset  bool `json:"reset,omitempty"`
	Place  bool `json:"place,omitempty"`
}

// answer is what the limits counted, what the reset did, or an error.
type answer struct {
	Number   int                       `json:"number"`
	Counters []forwarder.LimitCounters `json:"taken,omitempty"`
	Report   string                    `json:"did,omitempty"`
	Place    *reception.Reading        `json:"place,omitempty"`
	Error    string                    `json:"error,omitempty"`
}

// LimitCounters is what the Reference's limits counted since the lab was built, in the order of the topology's
// directions and named by its links. Without a limit it is empty.
func (l *Lab) LimitCounters(ctx context.Context) ([]forwarder.LimitCounters, error) {
	if l.topology.Kind != Reference || l.topology.Limit == nil {
		return nil, nil
	}
	a, err := l.ask(ctx, question{}, "ask the lab for its limits' counters")
	return l.byLink(a.Counters), err
}

// Reset makes the Reference forget what it learned, and says what it forgot.
func (l *Lab) Reset(ctx context.Context) (string, error) {
	if l.topology.Kind != Reference {
		return "", fmt.Errorf("a lab of a %s has no Reference to reset", l.topology.Kind)
	}
	a, err := l.ask(ctx, question{Reset: true}, "ask the lab to reset its Reference")
	return a.Report, err
}

// Placement reads where the Reference receives frames.
func (l *Lab) Placement(ctx context.Context) (reception.Reading, error) {
	a, err := l.ask(ctx, question{Place: true}, "ask the lab where its Reference receives frames")
	if err == nil && a.Place == nil {
		err = fmt.Errorf("a lab of a %s has no Reference that receives frames", l.topology.Kind)
	}
	if err != nil {
		return reception.Reading{}, err
	}
	return *a.Place, nil
}

// ask asks one question at a time, and waits for its answer.
func (l *Lab) ask(ctx context.Context, q question, purpose string) (answer, error) {
	l.asking.Lock()
	defer l.asking.Unlock()
	l.asked++
	q.Number = l.asked
	if err := json.NewEncoder(l.child.life).Encode(q); err != nil {
		return answer{}, fmt.Errorf("%s: %w", purpose, err)
	}
	for {
		select {
		case <-ctx.Done():
			return answer{}, fmt.Errorf("%s: %w", purpose, context.Cause(ctx))
		case a, ok := <-l.answers:
			switch {
			case !ok:
				return answer{}, fmt.Errorf("%s: it has ended", purpose)
			case a.Number != l.asked: // it answers a question that timed out
			case a.Error != "":
				return answer{}, errors.New(a.Error)
			default:
				return a, nil
			}
		}
	}
}

// byLink replaces the forwarder's interfaces by the names of their links.
func (l *Lab) byLink(counters []forwarder.LimitCounters) []forwarder.LimitCounters {
	for i, d := range l.topology.Directions {
		if i < len(counters) {
			counters[i].From, counters[i].To = d.From, d.To
		}
	}
	return counters
}

// receiveAnswers passes on the child's answers until the child has ended or the lab is closed.
func (l *Lab) receiveAnswers(decoder *json.Decoder) {
	defer close(l.answers)
	for {
		var a answer
		if err := decoder.Decode(&a); err != nil {
			return
		}
		select {
		case l.answers <- a:
		case <-l.closed:
			return
		}
	}
}

// answerQuestions is the child's side. It answers until the parent has ended, or has closed its end of the pipe.
func answerQuestions(questions io.Reader, answers io.Writer, reply func(question) (answer, error)) {
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
