package reception

import (
	"testing"
	"testing/fstest"
)

func TestMasksAreLists(t *testing.T) {
	for mask, want := range map[string]string{"0": "", "00000000": "", "1": "0", "d": "0,2-3", "00000001,80000000": "31-32",
		"ff": "0-7", "": "", "x": ""} {
		if got := list(mask); got != want {
			t.Errorf("%q: %q, want %q", mask, got, want)
		}
	}
}

func TestInterruptsOfQueues(t *testing.T) {
	proc := fstest.MapFS{"interrupts": {Data: []byte(`           CPU0       CPU1
 24:          1          0  IO-APIC   5-edge      ACPI:Ged
 40:        120          7  PCI-MSIX-0000:01:00.0   1-edge      eth0-TxRx-0
 41:          0     999999  PCI-MSIX-0000:01:00.0   2-edge      eth0-TxRx-1
 42:          3          4  PCI-MSIX-0000:01:00.0   3-edge      eth0-tx-1
NMI:          0          0   Non-maskable interrupts
`)}}
	all := interruptsOf(proc)
	if len(all) != 4 {
		t.Fatalf("%+v", all)
	}
	for number, want := range map[int][]int{0: {40}, 1: {41}, 2: nil} {
		var got []int
		for _, i := range all {
			if i.isOf("eth0", number) {
				got = append(got, i.number)
			}
		}
		if len(got) != len(want) || len(got) == 1 && got[0] != want[0] {
			t.Errorf("queue %d: %v, want %v", number, got, want)
		}
	}
	if all[1].counts[0] != 120 || all[2].counts[1] != 999999 {
		t.Errorf("%+v", all)
	}
	if cut := interruptsOf(fstest.MapFS{"interrupts": {Data: []byte("")}}); len(cut) > 0 {
		t.Errorf("%+v", cut)
	}
}

func TestCountersOfQueuesByTheirNames(t *testing.T) {
	for name, want := range map[string]string{"rx_queue_3_packets": "3", "rx_queue_0_xdp_packets": "0", "rx12_packets": "12",
		"rx-1.packets": "1", "rx-1.rx_packets": "1", "queue_5_rx_cnt": "5", "rx_packets": "", "rx_queue_3_bytes": "",
		"tx_queue_3_packets": "", "rx_queue_0_drops": ""} {
		m := countersByQueue.FindStringSubmatch(name)
		got := ""
		if m != nil {
			got = m[1] + m[2] + m[3] + m[4]
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAThreadsProcessors(t *testing.T) {
	proc := fstest.MapFS{"77/stat": {Data: []byte("77 (napi/a) b-1) S 2 0 0 0 -1 2129984 0 0 0 0 0 7 0 0 20 0 1 0 9 0 0 0 0 0 0 0 0 0 0 2147483647 0 0 0 0 17 3 1 1 0 0 0 0 0 0 0 0 0 0 0\n")},
		"77/status": {Data: []byte("Name:\tnapi\nCpus_allowed_list:\t2-3\n")}}
	if processor, allowed := threadOn(proc, 77); processor != 3 || allowed != "2-3" {
		t.Errorf("%d, %q", processor, allowed)
	}
	if processor, allowed := threadOn(proc, 78); processor != -1 || allowed != "" {
		t.Errorf("of a thread that has ended: %d, %q", processor, allowed)
	}
}

// Whatever the machine is, it can be read, and an interface that isn't there is left out.
func TestThisMachine(t *testing.T) {
	r, err := Read([]Interface{{"west", "lo"}, {"east", "no-such"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Moment <= 0 || len(r.Processors) == 0 || len(r.Ports) != 1 || r.Ports[0].Link != "west" || len(r.Ports[0].Queues) == 0 {
		t.Errorf("%+v", r)
	}
}
