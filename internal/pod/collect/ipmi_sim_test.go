//go:build full

package collect_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// simulatedIPMI is ipmi_sim's (Debian: openipmi) controller with one sensor, Inlet Temp, of 41 °C. It knows user lab.
const simulatedIPMI = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable 0x20 1000 0x0a
sensor_add 0x20 0 1 1 1
sensor_set_value 0x20 0 1 41 0
sensor_set_event_support 0x20 0 1 enable scanning per-state 000000000000000 000000000000000 000000000000000 000000000000000
main_sdr_add 0x20 0x00 0x00 0x51 0x01 0x35 0x20 0x00 0x01 0x03 0x01 0x7f 0x48 0x01 0x01 0x00 0x00 0x00 0x00 0x00 0x00 ` +
	`0x00 0x01 0x00 0x00 0x01 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0xff 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 ` +
	`0x00 0x00 0x00 0xca 0x49 0x6e 0x6c 0x65 0x74 0x20 0x54 0x65 0x6d 0x70
mc_enable 0x20
`

// A controller that isn't ours, asked by the program that is used.
func TestIPMIOfASimulatedController(t *testing.T) {
	for _, program := range []string{"ipmi_sim", "ipmitool"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s isn't installed (Debian: openipmi, ipmitool)", program)
		}
	}
	free, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.LocalAddr().(*net.UDPAddr)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	lan := fmt.Sprintf("name \"sim\"\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 %d\n    priv_limit admin\n"+
		"    guid a123456789abcdefa123456789abcdef\n  endlan\n  user 2 true \"lab\" \"hunter2\" admin 10 none md2 md5 straight\n",
		address.Port)
	for name, text := range map[string]string{"lan.conf": lan, "sim.emu": simulatedIPMI} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("ipmi_sim", "-c", filepath.Join(folder, "lan.conf"), "-f", filepath.Join(folder, "sim.emu"), "-s",
		folder, "-n")
	stdin, writer := io.Pipe()
	run.Stdin = stdin
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = writer.Close()
		_ = run.Wait()
	})
	shown := secrets(t, map[string]string{"bmc/username": "lab", "bmc/password": "hunter2"})
	o := sensor("Inlet Temp", "°C")
	o.IPMI.Address = address.String()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		a := answered(t, o, shown)
		if a.Missing == "" {
			if n := number(t, a, "value", ""); n.Value != 41 || n.Unit != "°C" {
				t.Errorf("%+v", n)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it is never read: %s", a.Missing)
		}
	}
	wrong := secrets(t, map[string]string{"bmc/username": "lab", "bmc/password": "other"})
	missing(t, answered(t, o, wrong), "doesn't take what secret bmc has")
}
