package sessions

import (
	"bufio"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/intake/intaketest"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure"
)

// endless takes requests, and answers with a text that never ends. read is how much of it was read.
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
	driverConn, endConn := net.Pipe() // what one end writes the other has read
	read := endless(endConn)
	_, err := newRemote(driverConn).ask(t.Context(), time.Minute, request{Verb: doRead})
	if !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "it has more than 1048576 bytes") {
		t.Errorf("the error is %v", err)
	}
	if err := errors.Join(driverConn.Close(), endConn.Close()); err != nil {
		t.Error(err)
	}
	if n := <-read; n > longestLine {
		t.Errorf("%d bytes were read", n)
	}
}

// An end may answer as much as that each time.
func TestLongAnswersOneAfterTheOtherAreTaken(t *testing.T) {
	driverConn, endConn := net.Pipe()
	const answers = 4
	text := []byte(`{"error":"` + strings.Repeat("x", longestLine*3/4) + "\"}\n")
	go func() {
		requests := bufio.NewReader(endConn)
		for range answers {
			if _, err := requests.ReadString('\n'); err != nil {
				return
			}
			if _, err := endConn.Write(text); err != nil {
				return
			}
		}
	}()
	r := newRemote(driverConn)
	for i := range answers {
		if _, err := r.ask(t.Context(), time.Minute, request{Verb: doRead}); err == nil ||
			errors.Is(err, engine.ErrLost) {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	_ = errors.Join(driverConn.Close(), endConn.Close())
}

// Two bytes of an answer could become a hundred of memory, and an end answers four times a second.
func TestAnAnswerThatWasMadeToFillMemoryIsRefusedBeforeItIsDecoded(t *testing.T) {
	for name, bomb := range intaketest.Bombs(longestLine-1<<10, `{"reading":{"signs":[`, "]}}\n") {
		t.Run(name, func(t *testing.T) {
			driverConn, endConn := net.Pipe()
			go func() {
				if _, err := bufio.NewReader(endConn).ReadString('\n'); err == nil {
					_, _ = endConn.Write([]byte(bomb))
				}
			}()
			var err error
			allocated := intaketest.Allocated(func() {
				_, err = newRemote(driverConn).ask(t.Context(), time.Minute, request{Verb: doRead})
			})
			if !errors.Is(err, engine.ErrLost) || !strings.Contains(err.Error(), "no document of linerate's") {
				t.Errorf("the error is %v", err)
			}
			if allocated > 8<<20 {
				t.Errorf("refusing it takes %d bytes", allocated)
			}
			_ = errors.Join(driverConn.Close(), endConn.Close())
		})
	}
}

// A driver that was taken over, or a stranger where an end is started by hand, fills no end's memory either.
func TestARequestThatWasMadeToFillMemoryEndsTheConnection(t *testing.T) {
	for name, bomb := range intaketest.Bombs(longestLine-1<<10, `{"do":"hello","lay":{"routes":[`, "]}}\n") {
		var r request
		var err error
		allocated := intaketest.Allocated(func() { err = newLines(strings.NewReader(bomb)).next(&r) })
		if _, refused := errors.AsType[intake.Exceeded](err); !refused || allocated > 8<<20 {
			t.Errorf("%s: %v, and reading it takes %d bytes", name, err, allocated)
		}
	}
}

// Each answer is a little less than it may be, and the readings of a window are kept until its end. Only the members
// that the test asks for are kept.
func TestManyAnswersThatAreAsLongAsTheyMayBeFillNoMemory(t *testing.T) {
	word := strings.Repeat("x", 200)
	long := `{"reading":{"atNanoseconds":1,"signs":[{"type":"Memory","values":[` + strings.Repeat(`{"series":"`+word+
		`"},`, 3000) + `{"series":"used"}]}],"vitals":{"each":[]}}}` + "\n"
	const answers = 48
	live := intaketest.Live(func() any {
		var window [][]Reading
		for range answers {
			var a answer
			if err := newLines(strings.NewReader(long)).next(&a); err != nil || len(a.Reading.Signs[0].Values) != 3001 {
				t.Fatalf("%v: an end of a large machine may answer that", err)
			}
			if err := a.Reading.check(1); err != nil {
				t.Fatal(err)
			}
			window = append(window, counters([]Reading{*a.Reading}))
		}
		return window
	})
	if live > answers*16<<10 {
		t.Errorf("%d answers of %d bytes keep %d bytes", answers, len(long), live)
	}
}

func TestAReadingWithMoreThanTheTestHasIsRefused(t *testing.T) {
	counters := map[string]int64{}
	for i := range maxCounters + 1 {
		counters[strings.Repeat("x", i)] = 1
	}
	for name, c := range map[string]struct {
		reading Reading
		wantErr string
	}{
		"an end's own": {Reading{Sending: &measure.Sending{Datagrams: make([]int64, 4)},
			Receiving: &measure.Receiving{Streams: make([]measure.Arrivals, 4), Broken: "reset"},
			Drops:     &measure.Drops{Interface: "eth1"}}, ""},
		"streams of a sender": {Reading{Sending: &measure.Sending{Datagrams: make([]int64, 5)}},
			"5 streams, and the test has 4"},
		"streams of a receiver": {Reading{Receiving: &measure.Receiving{Streams: make([]measure.Arrivals, 100_000)}},
			"100000 streams"},
		"what broke": {Reading{Receiving: &measure.Receiving{Broken: strings.Repeat("x", longestLine)}},
			"bytes of words"},
		"why it isn't read": {Reading{Drops: &measure.Drops{Unread: strings.Repeat("x", maxWords+1)}},
			"bytes of words"},
		"a counter's name": {Reading{Drops: &measure.Drops{Counters: map[string]int64{strings.Repeat("x",
			maxWords+1): 1}}}, "bytes of words"},
		"a program's name": {Reading{Waits: &measure.Waits{Program: strings.Repeat("x", maxWords+1)}},
			"bytes of words"},
		"counters": {Reading{Drops: &measure.Drops{Counters: counters}}, "65 counters"},
	} {
		err := c.reading.check(4)
		if (err == nil) != (c.wantErr == "") || err != nil && (!errors.Is(err, engine.ErrLost) ||
			!strings.Contains(err.Error(), c.wantErr)) {
			t.Errorf("%s: %v, want %q", name, err, c.wantErr)
		}
	}
}
