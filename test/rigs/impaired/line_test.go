package impaired

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// offer lets frames come at a rate for so long, in batches of so many at once, and returns their fates.
func (l *line) offer(perSecond float64, begin, end time.Duration, batch int) (fates []fate) {
	for n := 0; ; n++ {
		arrival := begin + time.Duration(float64(n/batch*batch)/perSecond*float64(time.Second))
		if arrival >= end {
			return fates
		}
		fates = append(fates, l.decide(arrival, flow{byte(n % 4)}))
	}
}

func passed(fates []fate) (n int) {
	for _, f := range fates {
		if f.lost == forwarded {
			n++
		}
	}
	return n
}

// TestForwardsPredictsWhatIsForwarded compares Forwards with what is forwarded of any load that lasts, even and in a
// generator's batches.
func TestForwardsPredictsWhatIsForwarded(t *testing.T) {
	for name, i := range map[string]Impairment{
		"a limit":       {Limit: 9_999},
		"a loss":        {LoseOneIn: 500},
		"both":          {Limit: 10_000, LoseOneIn: 500},
		"a short queue": {Limit: 10_000, Queue: 10 * time.Millisecond},
		"a small waste": {Limit: 10_000, Wasted: 0.1},
		"a great waste": {Limit: 10_000, Wasted: 0.5},
		"a knee":        {Limit: 10_000, Knee: &Knee{Begin: 0.95, Loss: 0.02}},
		"a cold begin":  {Limit: 10_000, Cold: &Cold{Duration: time.Second / 2, Share: 0.5}},
		"a high limit":  {Limit: 50_000},
	} {
		limit := float64(max(i.Limit, 10_000))
		for _, load := range []float64{0.5, 0.94, 0.975, 0.99, 1.02, 1.5, 4} {
			for _, batch := range []int{1, 8} {
				l := newLine(i)
				l.offer(load*limit, 0, time.Second, batch)
				got, want := float64(passed(l.offer(load*limit, time.Second, 2*time.Second, batch))),
					i.Forwards(load*limit)
				if math.Abs(got-want) > 0.001*limit {
					t.Errorf("%s: of %g × the limit in batches of %d it forwards %g packets/s, want %g", name, load,
						batch, got, want)
				}
			}
		}
	}
}

func TestOneInNIsExactlyOneInN(t *testing.T) {
	l := newLine(Impairment{LoseOneIn: 7, DuplicateOneIn: 5, ReorderOneIn: 3})
	fates, lost, doubled, behind := l.offer(1_000, 0, 7*3*5*4*time.Second, 1), 0, 0, 0
	for n, f := range fates {
		switch {
		case (f.lost == chosen) != ((n+1)%7 == 0):
			t.Fatalf("frame %d: %+v", n+1, f)
		case f.lost == chosen:
			lost++
		}
		if f.copies == 2 {
			doubled++
		}
		if f.behind {
			behind++
		}
	}
	if n := len(fates); n != 420_000 || lost != n/7 || doubled != n*6/7/5 || behind != n*6/7/3 {
		t.Errorf("of %d frames %d are lost, %d doubled and %d behind", n, lost, doubled, behind)
	}
}

func TestAQueueOfAHundredMilliseconds(t *testing.T) {
	l := newLine(Impairment{Limit: 10_000, Queue: 100 * time.Millisecond, Delay: time.Millisecond})
	for n, f := range l.offer(10_000, 0, time.Second, 1) {
		if arrival := time.Duration(n) * 100 * time.Microsecond; f.lost != forwarded || f.leaves != arrival+
			time.Millisecond {
			t.Fatalf("at its limit, frame %d that came at %v: %+v", n, arrival, f)
		}
	}
	var latest fate
	for _, f := range l.offer(20_000, time.Second, 3*time.Second, 1) {
		if f.lost != forwarded {
			continue
		}
		if f.leaves-latest.leaves < 99*time.Microsecond && latest.leaves > 0 {
			t.Fatalf("two frames leave within %v", f.leaves-latest.leaves)
		}
		latest = f
	}
	if wait := latest.leaves - 3*time.Second; wait < 99*time.Millisecond || wait > 102*time.Millisecond {
		t.Errorf("above its limit, the last frame waits for %v, want 100 ms and the delay of 1 ms", wait)
	}
	if f := l.decide(4*time.Second, flow{}); f.leaves != 4*time.Second+time.Millisecond {
		t.Errorf("an idle queue has a frame wait: %+v", f)
	}
}

func TestADeviceIsWorseInItsFirstTenSeconds(t *testing.T) {
	l := newLine(Impairment{Limit: 10_000, Cold: &Cold{Duration: 10 * time.Second, Share: 0.8}})
	l.offer(100, 0, 300*time.Millisecond, 1) // what proves the path doesn't warm it
	for arrival := time.Minute; arrival < 75*time.Second; arrival += time.Second {
		got, want := passed(l.offer(20_000, arrival, arrival+time.Second, 1)), 8_000
		if arrival >= 70*time.Second {
			want = 10_000
		}
		if math.Abs(float64(got-want)) > 50 {
			t.Errorf("%v after the load began it forwards %d, want %d", arrival-time.Minute, got, want)
		}
	}
}

func TestASavingDeviceSavesNoMore(t *testing.T) {
	l := newLine(Impairment{Limit: 10_000, Saves: 20 * time.Millisecond})
	for arrival := time.Duration(0); arrival < 3*time.Hour; arrival += time.Hour {
		if got := passed(l.offer(1e9, arrival, arrival+time.Microsecond, 1)); got != 200 {
			t.Errorf("after a pause, %d frames pass at once, want 20 ms of the limit, 200", got)
		}
	}
}

// TestOrderWithinFlows lets every third frame of a flow leave behind the next one of that flow, and never only behind
// one of another flow. Not all flows are reordered at once.
func TestOrderWithinFlows(t *testing.T) {
	l, b := newLine(Impairment{ReorderOneIn: 3}), outbox{}
	departed := map[byte]string{}
	for n := range 24 {
		f, arrival := flow{byte(n % 2)}, time.Duration(n)*time.Millisecond
		b.accept([]byte{byte(n % 2), byte(n / 2)}, arrival, f, l.decide(arrival, f))
		for p, ok := b.due(arrival); ok; p, ok = b.due(arrival) {
			departed[p.frame[0]] += fmt.Sprint(p.frame[1], " ")
			b.reuse(p)
		}
	}
	wants := map[byte]string{0: "0 1 3 2 4 6 5 7 " +
		"9 8 10 ", /* the last of them still waits for one more */ 1: "0 2 1 3 5 4 6 8 7 9 11 10 "}
	for f, want := range wants {
		if got := departed[f]; got != want {
			t.Errorf("flow %d leaves as %s, want %s", f, got, want)
		}
	}
	if departure, ok := b.next(); !ok || departure != 22*time.Millisecond+reorderTimeout {
		t.Errorf("what waits for one more leaves at %v (%v), want 20 ms after it came", departure, ok)
	}
}

func TestWhatLeavesLater(t *testing.T) {
	var b outbox
	for n, leaves := range []time.Duration{5, 1, 3, 3, 2} {
		b.add([]byte{byte(n)}, leaves, leaves, 1)
	}
	var order []byte
	for p, ok := b.due(4); ok; p, ok = b.due(4) {
		order = append(order, p.frame[0])
	}
	if next, ok := b.next(); string(order) != "\x01\x04\x02\x03" || !ok || next != 5 {
		t.Errorf("frames %v leave, and the next at %d", order, next)
	}
}

func TestFlows(t *testing.T) {
	frame := func(change func(f []byte)) flow {
		f := make([]byte, 60)
		f[12], f[13], f[14], f[23] = 8, 0, 0x45, 17
		change(f)
		return flowOf(f)
	}
	original := frame(func([]byte) {})
	for name, c := range map[string]struct {
		change func(f []byte)
		equal  bool
	}{
		"another address":  {func(f []byte) { f[29] = 1 }, false},
		"another port":     {func(f []byte) { f[37] = 1 }, false},
		"another protocol": {func(f []byte) { f[23] = 6 }, false},
		"another MAC":      {func(f []byte) { f[1] = 1 }, true},
		"another payload":  {func(f []byte) { f[50] = 1 }, true},
	} {
		if got := frame(c.change); (got == original) != c.equal {
			t.Errorf("%s: %v", name, got)
		}
	}
	if flowOf(make([]byte, 14)) != flowOf(make([]byte, 60)) {
		t.Error("what isn't IPv4 is more than one flow")
	}
}
