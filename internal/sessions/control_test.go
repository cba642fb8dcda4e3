package sessions

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
)

// endless takes requests, and answers with a text that never ends; read is how much of it was read.
func endless(conn net.Conn) (read chan int) {
	read = make(chan int, 1)
	go func() {
		sent := 0
		defer func() { read <- sent }()
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			return
		}
		chunk := []byte(strings.Repeat("x", 64<<10))
		for text := []byte(`{"error":"`); ; text = chunk {
			n, err := conn.Write(text)
			if sent += n; err != nil {
				return
			}
		}
	}()
	return read
}

func TestAnEndWhoseAnswerNeverEndsFillsNoMemory(t *testing.T) {
	mine, its := net.Pipe() // what one end writes the other has read
	read := endless(its)
	_, err := newRemote(mine).ask(t.Context(), time.Minute, request{Do: doRead})
	if !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "its answer has more than 1048576 bytes") {
		t.Errorf("the error is %v", err)
	}
	if err := errors.Join(mine.Close(), its.Close()); err != nil {
		t.Error(err)
	}
	if n := <-read; n > longestAnswer {
		t.Errorf("%d bytes were read", n)
	}
}

// An end may answer as much as that each time.
func TestLongAnswersOneAfterTheOtherAreTaken(t *testing.T) {
	mine, its := net.Pipe()
	const answers = 4
	text := []byte(`{"error":"` + strings.Repeat("x", longestAnswer*3/4) + `"}`)
	go func() {
		requests := bufio.NewReader(its)
		for range answers {
			if _, err := requests.ReadString('\n'); err != nil {
				return
			}
			if _, err := its.Write(text); err != nil {
				return
			}
		}
	}()
	r := newRemote(mine)
	for i := range answers {
		if _, err := r.ask(t.Context(), time.Minute, request{Do: doRead}); err == nil || errors.Is(err, engine.ErrLost) {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	_ = errors.Join(mine.Close(), its.Close())
}
