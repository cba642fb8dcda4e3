package machine

// This file keeps a machine's processors from sleeping while something is measured on it.
//
// An idle processor sleeps, and needs time to wake up: microseconds on bare metal, more for a deeper sleep. A
// virtual machine gives its processor back to the host, which schedules the processor again later, and milliseconds
// later where others share the host. A generator that sends a frame each 100 µs sleeps that often, and so does a
// device that forwards the frame.
//
//	asleep   send ─▶ halt ─▶ host runs others ······ late ─▶ a burst            steal in /proc/stat, bursts
//	awake    send ─▶ poll ─▶ send ─▶ poll ─▶ send                                the processor is hot all the time
//
// The sources are the kernel's Documentation/power/pm_qos_interface.rst and
// Documentation/admin-guide/pm/cpuidle.rst.

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
)

const (
	// device is the file by which a process bounds the latency of waking up. By default only root may write to it.
	device = "/dev/cpu_dma_latency"
	// idleDriver names the driver that puts idle processors to sleep, and heeds the bound. Without a driver, as in
	// many virtual machines, the kernel halts idle processors whatever a program asks for.
	idleDriver = "/sys/devices/system/cpu/cpuidle/current_driver"
)

// AwakeRequest keeps the processors awake until it is closed, or its process ends.
type AwakeRequest struct{ file *os.File }

// KeepAwake asks the kernel to let none of the machine's processors sleep. Its error is no reason not to measure: in a
// container, without root, or on a kernel without a driver for idle states, processors sleep as before.
func KeepAwake() (*AwakeRequest, error) {
	if !heeded() {
		return nil, fmt.Errorf("keep the processors awake: this kernel has no driver for idle states (%s) and halts idle processors, whatever %s asks for; booted with idle=poll it doesn't", idleDriver, device)
	}
	file, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("keep the processors awake: %w", err)
	}
	// The request is a signed 32-bit number of microseconds in the machine's byte order, and 0 allows polling only.
	if _, err := file.Write(binary.NativeEndian.AppendUint32(nil, 0)); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("keep the processors awake: %w", err)
	}
	return &AwakeRequest{file}, nil
}

// heeded says whether the kernel has a driver that heeds requests.
func heeded() bool {
	name, err := os.ReadFile(idleDriver)
	return err == nil && strings.TrimSpace(string(name)) != "none"
}

// Close lets the processors sleep again, unless another process keeps them awake. Closing a nil Request does nothing.
func (r *AwakeRequest) Close() error {
	if r == nil {
		return nil
	}
	return r.file.Close()
}
