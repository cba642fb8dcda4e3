package fabric_test

import (
	"bytes"
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func TestEntered(t *testing.T) {
	s := laid(t, "count", 1)
	sender, receiver := bringUp(t, s, "a", "westp0v0", 1), bringUp(t, s, "b", "westp1v0", 2)
	earlier := entered(t, s)
	if err := reach(t, sender, receiver, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	for end, n := range entered(t, s) {
		if counted := n > earlier[end]; counted != (end.Wire == "west") {
			t.Errorf("%+v: %d frames after %d", end, n, earlier[end])
		}
	}
}

func entered(t *testing.T, s fabric.Spec) map[fabric.End]uint64 {
	t.Helper()
	counts, err := s.Entered()
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != 4 {
		t.Errorf("%d ends, want 2 wires' with 2 functions each: %v", len(counts), counts)
	}
	return counts
}

func TestOverhear(t *testing.T) {
	s := laid(t, "overhear", 1)
	sender, receiver := bringUp(t, s, "a", "westp0v0", 1), bringUp(t, s, "b", "westp1v0", 2)
	if err := reach(t, sender, receiver, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	sent := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			if err := say(sender, receiver, "overheard"); err != nil {
				sent <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		sent <- nil
	}()
	heard, err := s.Overhear(ctx, "west", 20)
	if err != nil || len(heard) != 20 {
		t.Errorf("%d frames, %v", len(heard), err)
	}
	if n := len(slices.DeleteFunc(heard, func(f []byte) bool {
		return !bytes.Contains(f,
			[]byte("overheard"))
	})); n < 10 {
		t.Errorf("%d of 20 frames are those that were sent", n)
	}
	stop()
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if heard, err := s.Overhear(ctx, "east", 1); err == nil {
		t.Errorf("on a silent wire %d frames were heard", len(heard))
	}
	if _, err := s.Overhear(t.Context(), "north", 1); err == nil {
		t.Error("a wire that isn't there can be listened to")
	}
}

// say sends a datagram from one end to the other.
func say(sender, receiver end, words string) error {
	return vf.InNamespace(sender.namespace, func() error {
		c, err := net.Dial("udp4", receiver.address+":9")
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		_, _ = c.Write([]byte(words)) // nobody may be there to take it
		return nil
	})
}
