package machine

import (
	"encoding/binary"
	"io"
	"os"
	"testing"
)

// asked is the latency that the kernel keeps to: the least of all that are asked for (kernel: pm_qos_interface.rst).
func asked(t *testing.T) int32 {
	t.Helper()
	file, err := os.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var now [4]byte
	if _, err := io.ReadFull(file, now[:]); err != nil {
		t.Fatal(err)
	}
	return int32(binary.NativeEndian.Uint32(now[:]))
}

// TestKeep holds where this user may write to the device and a driver heeds it, and where not.
func TestKeep(t *testing.T) {
	file, unwritable := os.OpenFile(device, os.O_WRONLY, 0)
	if unwritable == nil {
		_ = file.Close() // unwritten: it asks for nothing
	}
	r, err := KeepAwake()
	if unwritable != nil || !heeded() {
		if err == nil || r != nil {
			t.Errorf("got %v, %v, want an error: heeded %v, %v", r, err, heeded(), unwritable)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := asked(t); got != 0 {
		t.Errorf("the kernel keeps to %d µs, want 0", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestClosingNothingIsFine(t *testing.T) {
	var none *AwakeRequest
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}
