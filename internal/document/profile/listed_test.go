package profile

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

func TestAListedStreamSendsItsFramesInTurn(t *testing.T) {
	built, err := Build(Spec{Kind: FixedSize, FrameSize: 90, Flows: Flows{Count: 5,
		Vary: []Field{SourceAddress, DestinationPort}}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := FirstFrames(built.Streams[0], 5)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(want)
	listed, err := Listed(built.Streams[0], want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := FirstFrames(listed, 10)
	if err != nil {
		t.Fatal(err)
	}
	for i, frame := range got {
		if !bytes.Equal(frame, want[i%5]) {
			t.Errorf("frame %d is %x, want %x", i, frame, want[i%5])
		}
	}
	if listed.Mode != built.Streams[0].Mode {
		t.Errorf("the rate changed: %+v", listed.Mode)
	}
	if err := CheckStreams([]stream.Stream{listed}); err != nil {
		t.Errorf("a generator would refuse it: %v", err)
	}
}

func TestFramesThatAStreamCantList(t *testing.T) {
	frame := make([]byte, 60)
	binary.BigEndian.PutUint16(frame[12:], 0x0800)
	for says, frames := range map[string][][]byte{
		"1 to 16384 frames, and here are 0": nil,
		"one length":                        {frame, frame[:59]},
	} {
		if _, err := Listed(stream.Stream{}, frames); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	one, err := Listed(stream.Stream{}, [][]byte{frame})
	if err != nil || len(one.VM.Instructions) != 0 {
		t.Errorf("one frame: %+v, %v", one.VM, err)
	}
}
