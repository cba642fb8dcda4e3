package datapath

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// slowMachine plays a schedule in virtual time on a processor that sleeps and stalls on command, and counts the
// frames that leave in each second.
type slowMachine struct {
	schedule *schedule
	pacer    pacer
	instant  float64
	sent     []int // per second
	largest  int   // the largest burst
}

// step is one round of a thread's loop. The due frames leave, each at its cost, and then the thread is away for
// a while.
func (m *slowMachine) step(away, cost float64) {
	horizon := m.pacer.advance(m.instant, m.schedule.next(), m.schedule.rate())
	burst := 0
	for m.schedule.next() <= horizon {
		m.schedule.pop()
		burst++
	}
	second := int(m.instant / 1e9)
	for len(m.sent) <= second {
		m.sent = append(m.sent, 0)
	}
	m.sent[second] += burst
	m.largest = max(m.largest, burst)
	m.instant += away + float64(burst)*cost
}

// setFactor changes the rate as a thread does on an order.
func (m *slowMachine) setFactor(factor float64) {
	m.pacer.discardOverdue(m.instant, m.schedule.next(), m.schedule.rate())
	m.schedule.setFactor(m.instant-m.pacer.slip, factor)
}

func newMachine(t *testing.T, perSecond float64) *slowMachine {
	return &slowMachine{schedule: newSchedule(compiled(t, streams(continuous(perSecond, frame(60)))...), 1, 0, 1)}
}

func TestPacing(t *testing.T) {
	t.Run("a thread that sleeps unevenly keeps the rate in every second", func(t *testing.T) {
		m, random := newMachine(t, 300_000), rand.New(rand.NewPCG(3, 4))
		for m.instant < 20*second {
			m.step(50*microsecond+random.Float64()*100*microsecond, 300)
		}
		for i, n := range m.sent[:20] {
			if math.Abs(float64(n)/300_000-1) > 0.001 {
				t.Errorf("second %d: %d frames", i, n)
			}
		}
		if m.pacer.lost != 0 {
			t.Errorf("%v frames lost", m.pacer.lost)
		}
	})
	t.Run("a short stall is made up for without ever being noticeably faster than asked", func(t *testing.T) {
		m := newMachine(t, 300_000)
		for m.instant < second/2 {
			m.step(50*microsecond, 300)
		}
		m.largest = 0
		m.instant += 4e6
		for m.instant < 4*second {
			m.step(50*microsecond, 300)
		}
		total := 0
		for i, n := range m.sent[:4] {
			total += n
			if float64(n) > 300_000*1.005 {
				t.Errorf("%d frames in second %d, more than the device was to get", n, i)
			}
		}
		if math.Abs(float64(total)/1_200_000-1) > 0.001 || m.pacer.lost != 0 {
			t.Errorf("%d frames in four seconds with the stall, %v lost", total, m.pacer.lost)
		}
		if limit := int(300_000 * 1.2 * maxBurst / 1e9); m.largest > limit {
			t.Errorf("a burst of %d frames, want at most %d", m.largest, limit)
		}
	})
	t.Run("frames that are too late are counted and never sent", func(t *testing.T) {
		m := newMachine(t, 100_000)
		m.step(0, 0)
		m.instant += second
		for m.instant < 9*second {
			m.step(50*microsecond, 300)
		}
		total := 0
		for _, n := range m.sent {
			total += n
		}
		if lost := m.pacer.lost; math.Abs(lost-97_500) > 100 || math.Abs(float64(total)+lost-900_000) > 100 {
			t.Errorf("%d sent and %v lost of 900000; want 97500 lost", total, lost)
		}
	})
	t.Run("an overloaded thread counts what it didn't send, and keeps a lower rate at once", func(t *testing.T) {
		m := newMachine(t, 1_000_000)
		for m.instant < 2*second {
			m.step(0, 2000) // 500 kpps at most
		}
		m.setFactor(0.2)
		start, lost := m.instant, m.pacer.lost
		if math.Abs(lost-1_000_000) > 20_000 {
			t.Errorf("%v frames lost, want about a million", lost)
		}
		m.sent = nil
		for m.instant < start+2*second {
			m.step(50*microsecond, 2000)
		}
		if n := m.sent[2] + m.sent[3]; math.Abs(float64(n)-400_000) > 400 || m.pacer.lost != lost {
			t.Errorf("%d frames in two seconds at 200 kpps, %v more lost", n, m.pacer.lost-lost)
		}
	})
	t.Run("a thread that was held up when the rate falls doesn't send the old rate's debt", func(t *testing.T) {
		m := newMachine(t, 20_000)
		for m.instant < second {
			m.step(50*microsecond, 300)
		}
		m.instant += 4e6
		m.setFactor(0.025)
		m.sent, m.largest = nil, 0
		for m.instant < 2*second {
			m.step(50*microsecond, 300)
		}
		if limit := int(20_000 * maxBurst / 1e9); m.largest > limit+2 ||
			math.Abs(float64(m.sent[1])-498) > float64(limit+2) {
			t.Errorf("a burst of %d frames and %d in all at 500 pps, with at most %d of what was overdue", m.largest,
				m.sent[1], limit)
		}
		if math.Abs(m.pacer.lost-74) > 2 {
			t.Errorf("%v frames given up, want those of 3.7 ms", m.pacer.lost)
		}
	})
	t.Run("an idle stretch is no stall", func(t *testing.T) {
		m := newMachine(t, 1)
		for m.instant < 10*second {
			m.step(float64(5*time.Millisecond), 0)
		}
		if m.sent[3] != 1 || m.pacer.lag != 0 || m.pacer.lost != 0 {
			t.Errorf("%v, lag %v, lost %v", m.sent, m.pacer.lag, m.pacer.lost)
		}
	})
}

func TestWhoIsSlowerThanAsked(t *testing.T) {
	t.Run("a thread below the offered load is slow after more than a stall", func(t *testing.T) {
		m := newMachine(t, 1_000_000)
		for m.instant < 2*second {
			if m.step(0, 3000); m.pacer.slow(m.instant) && m.instant < float64(linger) {
				t.Fatalf("it is called slow after %v", time.Duration(m.instant))
			}
		}
		if !m.pacer.slow(m.instant) {
			t.Error("it sends a third of what was asked for, and isn't called slow")
		}
	})
	t.Run("a thread that once stalled isn't slow", func(t *testing.T) {
		m := newMachine(t, 100_000)
		for m.instant < second {
			m.step(50*microsecond, 300)
		}
		m.step(200_000*microsecond, 300)
		for m.instant < 3*second {
			if m.step(50*microsecond, 300); m.pacer.slow(m.instant) {
				t.Fatalf("it is called slow %v after its stall", time.Duration(m.instant-1.2*second))
			}
		}
		if m.pacer.lost == 0 {
			t.Error("after a stall of 200 ms no frame was given up")
		}
	})
}

// A thread that wakes late for each frame, by less than the gap between two, sends all of them, and none sooner after
// another than the rest of the gap.
func TestFramesThatAreLateByLessThanAGapAreAllSent(t *testing.T) {
	const rate, gap = 75e-9, 1 / 75e-9 // packets/ns, ns
	p, real, sent := pacer{}, 0.0, 0
	for ; real < 10e9; real += gap / 20 {
		next := float64(sent) * gap
		if next+gap/2 > real { // the thread sleeps
			continue
		}
		if p.advance(real, next, rate) < next {
			t.Fatalf("frame %d, due at %.0f ns, may not leave at %.0f ns", sent, next, real)
		}
		sent++
	}
	if p.lag != 0 || p.lost != 0 || sent != 750 {
		t.Errorf("%d of 750 frames were sent, with a lag of %.0f ns and %.0f lost", sent, p.lag, p.lost)
	}
}
