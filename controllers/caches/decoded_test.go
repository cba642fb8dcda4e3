package caches

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// However many passes read documents, and however large these are, they take no more memory together than there
// is.
func TestDocumentsWaitUntilThereIsRoomForThem(t *testing.T) {
	const large, readers = MaxDecoded/2 + 1, 8
	d, current, highest := NewDecoded(), atomic.Int64{}, atomic.Int64{}
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			giveBack, err := d.Take(t.Context(), large)
			if err != nil {
				t.Error(err)
				return
			}
			if n := current.Add(1); n > highest.Load() {
				highest.Store(n)
			}
			current.Add(-1)
			giveBack()
		})
	}
	reading.Wait()
	if highest.Load() != 1 {
		t.Errorf("%d large documents were decoded at a time", highest.Load())
	}
}

func TestAPassThatEndsDoesNotWaitForRoom(t *testing.T) {
	d := NewDecoded()
	giveBack, err := d.Take(t.Context(), 2*MaxDecoded) // which is all
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := d.Take(ended, 1); err == nil {
		t.Error("it took what isn't there")
	}
	giveBack()
	if _, err := d.Take(t.Context(), 1); err != nil {
		t.Errorf("all was given back: %v", err)
	}
}

// The largest document that is decoded at all has room.
func TestTheLargestReportIsDecodedSomeTime(t *testing.T) {
	if bytes := (delivery.Size{Bytes: 32 << 20, Elements: 100_000}).Memory(); bytes > MaxDecoded {
		t.Errorf("it takes %d bytes, and there are %d", bytes, MaxDecoded)
	}
}

func TestWhoDoesNotWaitIsToldThatThereIsNoRoom(t *testing.T) {
	d := NewDecoded()
	half, ok := d.TryTake(MaxDecoded/2 + 1)
	if !ok {
		t.Fatal("there is room for more than half")
	}
	if _, ok := d.TryTake(MaxDecoded / 2); ok {
		t.Error("there is no room for as much again")
	}
	half()
	if _, ok := d.TryTake(2 * MaxDecoded); !ok {
		t.Error("all was given back")
	}
}
