package trains

import (
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// workingDevice forwards what enters at d0 to d1, in the receive path before the kernel's stack, and works for a time
// on each frame. It reads the clock until that time is over. The device saves what it reads too late at the next frame,
// so that the mean is exact. It saves nothing after an interrupt: a train that follows one would be too fast.
type workingDevice struct{ state *ebpf.Map }

// Words of the device's state.
const (
	serviceWord, lateWord = 0, 8
	stateBytes            = 16
	maxLate               = 200  // ns; a longer interruption isn't saved
	maxReadings           = 4000 // of the clock for a frame, more than 50 µs
)

func newWorkingDevice(t *testing.T, r *rig) *workingDevice {
	t.Helper()
	var d workingDevice
	netnstest.RunIn(t, r.device, func() (err error) {
		in, err := netlink.LinkByName("d0")
		if err != nil {
			return err
		}
		out, err := netlink.LinkByName("d1")
		if err != nil {
			return err
		}
		if d.state, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: stateBytes,
			MaxEntries: 1}); err != nil {
			return err
		}
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0",
			Instructions: d.code(out.Attrs().Index)})
		if err != nil {
			return err
		}
		attached, err := link.AttachXDP(link.XDPOptions{Program: program, Interface: in.Attrs().Index,
			Flags: link.XDPDriverMode})
		if err != nil {
			return err
		}
		t.Cleanup(func() {
			must(t, attached.Close())
			must(t, program.Close())
			must(t, d.state.Close())
		})
		return nil
	})
	return &d
}

func (d *workingDevice) code(target int) asm.Instructions {
	const deadline, state, readings = asm.R7, asm.R8, asm.R9
	return asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.Mov.Reg(deadline, asm.R0),
		asm.LoadMapValue(state, d.state.FD(), 0),
		asm.LoadMem(asm.R1, state, serviceWord, asm.DWord),
		asm.LoadMem(asm.R2, state, lateWord, asm.DWord),
		asm.Add.Reg(deadline, asm.R1),
		asm.Sub.Reg(deadline, asm.R2),
		asm.Mov.Imm(readings, maxReadings),
		asm.FnKtimeGetNs.Call().WithSymbol("work"),
		asm.JGE.Reg(asm.R0, deadline, "done"),
		asm.Sub.Imm(readings, 1),
		asm.JNE.Imm(readings, 0, "work"),
		asm.Sub.Reg(asm.R0, deadline).WithSymbol("done"),
		asm.JLT.Imm(asm.R0, maxLate, "save"),
		asm.Mov.Imm(asm.R0, 0),
		asm.LoadMem(asm.R1, state, serviceWord, asm.DWord).WithSymbol("save"),
		asm.JNE.Imm(asm.R1, 0, "forward"),
		asm.Mov.Imm(asm.R0, 0), // a device without work is never late
		asm.StoreMem(state, lateWord, asm.R0, asm.DWord).WithSymbol("forward"),
		asm.Mov.Imm(asm.R1, int32(target)),
		asm.Mov.Imm(asm.R2, 0),
		asm.FnRedirect.Call(),
		asm.Return(),
	}
}

// work sets how long the device works on each frame.
func (d *workingDevice) work(t *testing.T, service time.Duration) {
	t.Helper()
	must(t, d.state.Put(uint32(0), [2]uint64{uint64(service), 0}))
}
