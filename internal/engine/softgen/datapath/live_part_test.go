package datapath

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TestTheSendersProgramNeedsNoMoreThanTheRightToLoadIt has the kernel check the program for
// a user without CAP_SYS_ADMIN and CAP_PERFMON, whose addresses are checked more strictly.
func TestTheSendersProgramNeedsNoMoreThanTheRightToLoadIt(t *testing.T) {
	for _, n := range []int{1, liveMaxStreams} {
		for _, finite := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d streams, finite: %v", n, finite), func(t *testing.T) {
				keepCapabilities(t, unix.CAP_BPF, unix.CAP_NET_ADMIN)
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
				noError(t, err)
				var table liveTable
				function, err := composeFrames(tracks, 1, &table)
				needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
				t.Cleanup(func() { noError(t, table.values.Close()) })
				thread, err := newLiveThread(60, liveBatch)
				needKernel(t, err, "eBPF (CAP_BPF and CAP_NET_ADMIN)")
				t.Cleanup(func() { noError(t, thread.close()) })
				namespace, err := currentNamespace()
				noError(t, err)
				t.Cleanup(func() { noError(t, namespace.close()) })
				s := liveSender{tracks: tracks, threads: 1, batch: liveBatch, finite: finite, makeFrame: function}
				part, err := s.load(&port{device: device{index: 1, namespace: namespace}}, thread, 1)
				needKernel(t, err, "live frames with these rights")
				noError(t, part.close())
			})
		}
	}
}
