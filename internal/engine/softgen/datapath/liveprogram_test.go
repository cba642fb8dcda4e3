package datapath

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TestTheSendersProgramNeedsNoMoreThanTheRightToLoadIt has the kernel check the program for somebody who may neither
// administer the machine nor look into it: its addresses are held to more then.
func TestTheSendersProgramNeedsNoMoreThanTheRightToLoadIt(t *testing.T) {
	for _, n := range []int{1, liveMostStreams} {
		for _, finite := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d streams, finite: %v", n, finite), func(t *testing.T) {
				only(t, unix.CAP_BPF, unix.CAP_NET_ADMIN)
				var run []RunStream
				for i := range n {
					s := addressed(continuous(1000, frame(60+50*i)))
					if finite {
						s = addressed(burst(20, 200, frame(60+50*i)))
					}
					s.FlowStats = stream.Flow{Enabled: true, StreamID: uint32(i), RuleType: "stats", Stamped: i%2 == 0}
					run = append(run, RunStream{ID: uint32(i + 1), Stream: s})
				}
				tracks, err := compiler{source: [6]byte{2, 0, 0, 0, 0, 1}, speed: 10e9}.compile(run)
				must(t, err)
				var table liveTable
				function, err := composeFrames(tracks, 1, &table)
				needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
				t.Cleanup(func() { must(t, table.values.Close()) })
				thread, err := newLiveThread(60, liveBatch)
				needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
				t.Cleanup(func() { must(t, thread.close()) })
				here, err := currentNamespace()
				must(t, err)
				t.Cleanup(func() { must(t, here.close()) })
				s := liveSender{tracks: tracks, threads: 1, batch: liveBatch, finite: finite, makeFrame: function}
				part, err := s.load(&port{index: 1, namespace: here}, thread, 1)
				needKernel(t, err, "live frames with these rights")
				must(t, part.close())
			})
		}
	}
}
