package launch

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TRex v3.08 printed these lines when it was started wrongly, or got no CPU.
func TestWhatARealTRexSaysAtItsEnd(t *testing.T) {
	stack := slices.Repeat([]string{"??:0"}, 15)
	for _, c := range []struct {
		name   string
		status syscall.WaitStatus
		output []string
		code   Code
		words  []string
	}{
		{"its RPC's port is taken", 255 << 8, []string{
			"Failed resolving dest MAC for default gateway:0.0.0.0 on port 1",
			"*** RPC thread has encountred error: 'unable to bind ZMQ server at: tcp://*:4501'", "Exiting...",
		}, TRexEnded, []string{"TCP port of TRex's RPC is taken", "tcp://*:4501"}},
		{"an argument that it doesn't know, before its usage", 255 << 8, []string{
			"Starting  TRex v3.08 please wait  ...", "Error: option --nonsense is not recognized.",
			"Usage: t-rex-64 [mode] <options>",
			"Compiled with GCC     :   12.2.0", "Compiled with glibc   :   2.36 (host: 2.36)",
			"Sanitized image       :   no",
		}, TRexEnded, []string{"--nonsense", "spec.generator.trex.args"}},
		{"a CPU that isn't there", 1 << 8, []string{
			"EAL: core 99 unavailable", "EAL: invalid parameter for -l/--lcores",
			"EAL: Invalid 'command line' arguments.", "EAL: Error - exiting with code: 1",
			"Invalid EAL arguments", "EAL: Unregistering with invalid input parameter",
		}, TRexEnded, []string{"DPDK refused", "CPU"}},
		{"too little memory", 1 << 8, []string{
			"ERROR could not allocate memory for mbufs", "Either:", "* Check free memory in your system",
			"* Add 'limit_memory' to trex_cfg.yaml (units are MB)",
			"* Add --mbuf-factor to CLI", "EAL: Error - exiting with code: 1", "Cannot init mbuf pool _128-pkt-const",
		}, MemoryTooSmall, []string{"pools of packets", "limit_memory"}},
		{"its watchdog, with a stack without names", syscall.WaitStatus(syscall.SIGABRT), append([]string{
			"WATCHDOG: task 'ZMQ sync request-response' has not responded for more than 1.11147 seconds - timeout is " +
				"1 seconds", "*** traceback follows ***",
			"*** addr2line information follows ***",
		}, stack...), TRexEnded, []string{"watchdog", "'ZMQ sync request-response'", "--no-watchdog"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := endingOf(c.status, false, 0, c.output).verdict()
			f, ok := errors.AsType[Fault](err)
			if !ok || f.Code != c.code || strings.Contains(err.Error(), "??") {
				t.Errorf("error %v, want %s", err, c.code)
			}
			for _, words := range c.words {
				if !contains(err, words) {
					t.Errorf("error %v, want %q in it", err, words)
				}
			}
		})
	}
}
