package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestADescriptionThatCannotBeEmulatedSaysTheWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, lab, words string }{
		{"too much memory", "machines: [{memoryMiB: 4096}]",
			"machine emulated: memoryMiB 4096: give at most 2048, as the functions of the emulated card don't answer in a machine with more"},
		{"hugepages that leave nothing", "machines: [{numaNodes: 2, hugepages: 420}]",
			"machine emulated: hugepages 420 on each of 2 nodes are 1680 MiB of 2048: leave 384 MiB for the system"},
		{"more nodes than processors", "machines: [{numaNodes: 4}]", "numaNodes 4 with processors 2: give each node a processor"},
		{"a node that isn't there", "machines: [{ports: [{numaNode: 1}]}]",
			"port ens1f0: numaNode 1: the machine has the nodes 0 to 0; raise numaNodes"},
		{"functions of a card without", "machines: [{ports: [{card: e1000e, functions: 2}]}]",
			"functions 2: only the card igb has functions, not e1000e"},
		{"too many functions", "machines: [{ports: [{functions: 8}]}]", "functions 8: the card has at most 7"},
		{"too many queues beside functions", "machines: [{ports: [{functions: 1, queues: 4}]}]",
			"queues 4: the card has at most 8, and 2 beside functions"},
		{"a driver that isn't one", "machines: [{ports: [{functions: 1, driver: iavf}]}]",
			`driver "iavf": give igbvf, vfio-pci or none`},
		{"vfio without an IOMMU", "machines: [{withoutIOMMU: true, ports: [{functions: 2, drivers: [vfio-pci]}]}]",
			"driver vfio-pci needs an IOMMU: drop withoutIOMMU, or name another driver"},
		{"two machines of one name", "machines: [{name: a}, {name: a}]",
			"two machines are called a: give each a name of its own"},
		{"two ports of one name", "machines: [{ports: [{name: p}, {name: p}]}]", "two ports are called p"},
		{"a cable to nowhere", "machines: [{name: a}]\ncables: [[a/ens1f0, b/ens1f0]]",
			`a cable ends at "b/ens1f0", which is no port: name one of a/ens1f0, a/ens1f1`},
		{"two cables in one port", "cables: [[ens1f0, ens1f1], [ens1f1, ens1f0]]",
			"port emulated/ens1f1 has two cables: a port takes one"},
		{"an unknown field", "machines: [{memory: 2Gi}]", `unknown field "memory"`},
		{"a name that a shell would read", "machines: [{name: $(reboot)}]", "the name must be lower-case letters"},
		{"a port that QEMU would read", "machines: [{ports: [{name: 'a,b'}]}]", "the name must be a lower-case letter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if err := completed(t, c.lab); err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s\nis refused with\n%v\nand not with\n%s", c.lab, err, c.words)
			}
		})
	}
}

func TestADescriptionThatCanBeEmulatedIsTaken(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/machine.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/machine.md has no example")
	}
	for _, lab := range []string{"{}", "machines: [{}]", "cables: [[ens1f0, ens1f1]]", "machines: [{ports: []}]", example} {
		if err := completed(t, lab); err != nil {
			t.Errorf("%s\nis refused: %v", lab, err)
		}
	}
}

func completed(t *testing.T, text string) error {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lab.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lab, err := ReadLab(file)
	if err != nil {
		return err
	}
	_, err = lab.complete()
	return err
}

func TestAllMACAddressesOfALabDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for machine := range 3 {
		for port := range 8 {
			for function := -1; function < 7; function++ {
				address := mac(machine, port, function)
				if seen[address] {
					t.Errorf("%s is two ports'", address)
				}
				seen[address] = true
			}
		}
	}
}

func TestTheNewestKernelIsTheOneWithTheHighestNumbers(t *testing.T) {
	t.Parallel()
	versions := []string{"vmlinuz-6.12.9+deb12-amd64", "vmlinuz-6.1.0-49-amd64", "vmlinuz-6.12.10+deb12-amd64", "vmlinuz-6.1.0-5-amd64"}
	slices.SortFunc(versions, compareVersions)
	if newest := versions[len(versions)-1]; newest != "vmlinuz-6.12.10+deb12-amd64" || versions[0] != "vmlinuz-6.1.0-5-amd64" {
		t.Errorf("sorted as %v", versions)
	}
}

func TestModulesLoadAfterThoseThatTheyNeed(t *testing.T) {
	t.Parallel()
	k := kernel{version: "1", modules: t.TempDir()}
	for name, text := range map[string]string{
		"modules.builtin": "kernel/drivers/virtio/virtio_pci.ko\n",
		"modules.dep":     "kernel/fs/9p/9p.ko.xz: kernel/net/9p/9pnet.ko.xz kernel/fs/netfs.ko.xz\nkernel/net/9p/9pnet.ko.xz: kernel/fs/netfs.ko.xz\nkernel/a/vfio-pci.ko.xz:\n",
	} {
		if err := os.WriteFile(filepath.Join(k.modules, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	order, err := k.load("virtio_pci", "9p", "vfio-pci")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"kernel/fs/netfs.ko.xz", "kernel/net/9p/9pnet.ko.xz", "kernel/fs/9p/9p.ko.xz", "kernel/a/vfio-pci.ko.xz"}
	if !slices.Equal(order, want) {
		t.Errorf("loads %v, not %v", order, want)
	}
	if _, err := k.load("igb"); err == nil || err.Error() != "kernel 1 has no module igb" {
		t.Errorf("a missing module: %v", err)
	}
}
