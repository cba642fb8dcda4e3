// Package awake keeps a machine's processors from sleeping while something is measured on it.
//
// A processor that has nothing to do sleeps, and takes its time to wake up: microseconds on bare metal, by the depth of its sleep. A virtual machine's
// is given back to the host, which has it run again when its turn comes: milliseconds, where others share the host. A generator that sends a frame
// each 100 µs sleeps that often, and so does a device that forwards it.
//
//	asleep   send ─▶ halt ─▶ host runs others ······ late ─▶ all that is due    steal in /proc/stat, bursts
//	awake    send ─▶ poll ─▶ send ─▶ poll ─▶ send                                the processor is hot all the time
//
// Source: the kernel's Documentation/power/pm_qos_interface.rst.
package awake

import (
	"encoding/binary"
	"fmt"
	"os"
)

// device is where the latency is asked for that waking up may have. Who may write to it is by default root alone.
const device = "/dev/cpu_dma_latency"

// Request lasts until it is closed, or its process ends, however that happens.
type Request struct{ file *os.File }

// Keep asks for processors that don't sleep at all, all of the machine's. What can't be asked for is an error and no reason not to measure: in a
// container, without root, or where a kernel has no idle states to choose from, they go on as they are.
func Keep() (*Request, error) {
	file, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("keep the processors awake: %w", err)
	}
	// A signed 32-bit number of microseconds, as the machine has numbers; 0 allows polling only.
	if _, err := file.Write(binary.NativeEndian.AppendUint32(nil, 0)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("keep the processors awake: %w", err)
	}
	return &Request{file}, nil
}

// Close lets the processors sleep again, unless somebody else keeps them awake. Closing nothing is fine.
func (r *Request) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}
