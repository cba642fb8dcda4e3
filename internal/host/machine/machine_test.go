package machine

import (
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

func TestTheMachineOfThisTestIsKnown(t *testing.T) {
	m := Local()
	if m.Kernel == "" || m.Processors < 1 {
		t.Errorf("%+v", m)
	}
}

func TestAHypervisorIsWhomTheFirmwareNames(t *testing.T) {
	named := fstest.MapFS{"sys/class/dmi/id/sys_vendor": {Data: []byte("QEMU\n")}, "sys/class/dmi/id/product_name": {Data: []byte("Standard PC (Q35 + ICH9, 2009)\n")}}
	for name, c := range map[string]struct {
		root  fstest.MapFS
		flags []string
		want  string
	}{
		"a virtual machine":                        {named, []string{"fpu", "hypervisor"}, "QEMU Standard PC (Q35 + ICH9, 2009)"},
		"vendor and product are one word":          {fstest.MapFS{"sys/class/dmi/id/sys_vendor": {Data: []byte("KVM")}, "sys/class/dmi/id/product_name": {Data: []byte("KVM")}}, []string{"hypervisor"}, "KVM"},
		"a virtual machine without firmware":       {fstest.MapFS{}, []string{"hypervisor"}, "unnamed"},
		"bare metal":                               {named, []string{"fpu"}, "none"},
		"an architecture that doesn't say of that": {named, nil, ""},
	} {
		if got := hypervisor(c.root, c.flags); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestANetworkCardIsKnownByItsPCIIds(t *testing.T) {
	root := fstest.MapFS{"sys/bus/pci/devices/0000:3b:00.0/vendor": {Data: []byte("0x8086\n")}, "sys/bus/pci/devices/0000:3b:00.0/device": {Data: []byte("0x1593\n")}}
	for address, want := range map[string]string{"0000:3b:00.0": "8086:1593", "0000:3b:00.1": "", "": "", "../devices/0000:3b:00.0": ""} {
		if got := Model(root, address); got != want {
			t.Errorf("%q is %q, want %q", address, got, want)
		}
	}
}

func TestAnInterfaceThatIsNotThereHasNoCard(t *testing.T) {
	if got := NICOf("no-such-if"); got != (NIC{}) {
		t.Errorf("%+v", got)
	}
}

func TestADriverWithoutFirmwareSaysSoInItsOwnWords(t *testing.T) {
	for said, want := range map[string]string{"": "", "N/A": "", " 4.20 0x8001778b 1.3346.0 ": "4.20 0x8001778b 1.3346.0"} {
		if got := firmware(said); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
}

func TestTuningIsWhatTheKernelTells(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	whole := fstest.MapFS{
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": file("powersave\n"), "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": file("performance\n"),
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": file("performance\n"), "sys/devices/system/cpu/isolated": file("2-15\n"), "sys/devices/system/node/online": file("0-1\n"),
		"proc/self/status": file("Name:\tlinerate\nCpus_allowed:\tff\nCpus_allowed_list:\t2-7\n"), "proc/cmdline": file("quiet isolcpus=2-15\n"),
	}
	const want = "frequency governor performance and powersave; isolated processors 2-15; NUMA nodes 0-1; kernel command line quiet isolcpus=2-15"
	if got := tuning(whole); got != want {
		t.Errorf("%q", got)
	}
	if got := allowed(whole); got != "2-7" {
		t.Errorf("%q", got)
	}
	if got := tuning(fstest.MapFS{"sys/devices/system/cpu/isolated": file("\n"), "sys/devices/system/node/online": file("0\n")}); got != "" {
		t.Errorf("of a machine that tells nothing: %q", got)
	}
	if got := tuning(fstest.MapFS{"proc/cmdline": file(strings.Repeat("ü", 2000))}); len(got) > 1100 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}
