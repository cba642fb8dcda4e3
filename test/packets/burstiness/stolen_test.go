package burstiness

import (
	"slices"
	"testing"
	"time"
)

func TestSpans(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for name, c := range map[string]struct {
		readings []reading
		want     []Span
	}{
		"none read":         {nil, nil},
		"nothing was taken": {[]reading{{ms(100), ms(70)}, {ms(110), ms(70)}, {ms(120), ms(70)}}, nil},
		"twice":             {[]reading{{ms(100), 0}, {ms(110), ms(10)}, {ms(120), ms(10)}, {ms(135), ms(30)}}, []Span{{ms(90), ms(130)}, {ms(110), ms(155)}}},
	} {
		if got := spans(c.readings); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestWatchStolen(t *testing.T) {
	begun := monotonic()
	spans, err := WatchStolen(t.Context())()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range spans { // a host may take something at any time
		if s.Start >= s.End || s.End < begun {
			t.Errorf("stolen %v, watched from %v on", s, begun)
		}
	}
}
