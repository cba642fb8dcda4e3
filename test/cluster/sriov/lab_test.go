//go:build full

package sriov

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
	"github.com/linerate-dev/linerate/test/rigs/machine"
)

const (
	cluster = "sriov"
	// clusterDir is where package rig keeps clusters.
	clusterDir = "/var/lib/linerate-e2e"
	patience   = 10 * time.Minute
)

var keep = flag.Bool("keep", false, "leave the cluster up, and take one that is up; machines are always new")

// lab is the two machines, and the cluster that they join.
type lab struct {
	*testing.T
	*rig.Rig
	machines *machine.Rig
	names    []string // the machines'
	desk     string   // the folder in which the reader of the page types
	path     string   // of the host's shell: kubectl is in it
}

// bringUp makes a cluster with the operator on the host, and two machines that are no nodes yet.
func bringUp(t *testing.T) *lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("nodes are made of namespaces, mounts and control groups: run as root")
	}
	log.SetLogger(logr.Discard()) // the client's errors come back as values
	l := &lab{T: t, desk: t.TempDir(), names: []string{"gen-1", "dut-1"}}
	var err error
	l.Rig, err = rig.BringUp(t.Context(), rig.Options{Name: cluster, Functions: 1, Wires: []string{"spare"}, Keep: *keep, Talk: os.Stderr})
	t.Cleanup(func() {
		if err := l.TearDown(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("take the cluster down: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	l.start()
	return l
}

// start brings the machines up.
func (l *lab) start() {
	l.Helper()
	var err error
	if l.machines, err = machine.Start(l.Context(), l.description(), os.Stderr); err != nil {
		l.Fatal(err)
	}
	l.Cleanup(l.machines.Close)
	l.Cleanup(l.showLogs)
}

// showLogs shows the end of what each node's programs said, if the test failed: the machines take all of it with them.
func (l *lab) showLogs() {
	if !l.Failed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.Context()), time.Minute)
	defer cancel()
	for _, name := range l.names {
		logs, err := l.machines.Machine(name).Command("sh", "-c", "head -n 3 $(find /sys/fs/cgroup -maxdepth 4 -name cpu.stat); "+
			"tail -n 40 /linerate-node/*/*/log/*.log | cut -c 1-400").Output(ctx)
		l.Logf("%s: %v\n%s", name, err, logs)
	}
}

// description is what the page draws, named and addressed as there.
func (l *lab) description() machine.Lab {
	ports := func() []machine.Port {
		return []machine.Port{{Name: "ens1f0", Address: "3b:00.0"}, {Name: "ens1f1", Address: "3b:00.1"}}
	}
	var d machine.Lab
	for _, name := range l.names {
		d.Machines = append(d.Machines, machine.Description{Name: name, Processors: 6, Hugepages: 64, Ports: ports(), Tap: tap(name)})
	}
	if len(l.names) == 2 {
		for _, port := range ports() {
			d.Cables = append(d.Cables, machine.Cable{l.names[0] + "/" + port.Name, l.names[1] + "/" + port.Name})
		}
	}
	return d
}

func tap(name string) string { return "sriov-" + name }

// inside runs a script in a machine.
func (l *lab) inside(name, script string) string {
	l.Helper()
	output, err := l.machines.Machine(name).Command("bash", "-c", script).Output(l.Context())
	if err != nil {
		l.Fatalf("on %s: %v: %s", name, err, output)
	}
	return output
}

// everywhere does the same for all machines at once.
func (l *lab) everywhere(do func(name string)) {
	l.Helper()
	var all sync.WaitGroup
	for _, name := range l.names {
		all.Go(func() { do(name) })
	}
	all.Wait()
	if l.Failed() {
		l.FailNow()
	}
}

// node is hack/cluster in a machine that is a node.
func (l *lab) node(verb string) string {
	return fmt.Sprintf("%s %s --dir /linerate-node --name %s ", l.Cluster.Program, verb, cluster)
}

// onDesk runs a command on the host, as the reader does who has kubectl there.
func (l *lab) onDesk(command string) (string, error) {
	cmd := exec.CommandContext(l.Context(), "bash", "-c", "set -o pipefail; "+command)
	cmd.Dir, cmd.Env = l.desk, append(os.Environ(), "KUBECONFIG="+l.Kubeconfig, "PATH="+l.path+":"+os.Getenv("PATH"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return string(output), fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(output), nil
}

// nameFunctions does what udev does on an ordinary node: it loads the functions' driver and names their interfaces.
func (l *lab) nameFunctions() {
	l.everywhere(func(name string) {
		l.inside(name, `set -eu
await() { until eval "$1"; do sleep 0.1; done; }
for port in ens1f0 ens1f1; do
	await "[ \$(cat /sys/class/net/$port/carrier) = 1 ]"
done
modprobe igbvf
for function in /sys/class/net/ens1f[01]/device/virtfn*; do
	port=${function#/sys/class/net/}
	await "[ -n \"\$(ls $function/net 2>/dev/null)\" ]"
	ip link set "$(ls $function/net)" name ${port%%/*}v${function##*virtfn}
done`)
	})
}

// join makes the machines nodes. systemctl is a script there.
func (l *lab) join() {
	for _, name := range l.names {
		if _, err := l.Cluster.Run(l.Context(), "", "join", name, tap(name)); err != nil {
			l.Fatal(err)
		}
	}
	l.everywhere(func(name string) {
		l.inside(name, fmt.Sprintf(`set -eu
cat >/usr/local/sbin/systemctl <<'END'
#!/bin/sh
case $1 in stop) verb=kill ;; *) verb=$1 ;; esac
exec %s $verb --dir /linerate-node --name %s %s $2
END
chmod +x /usr/local/sbin/systemctl
%s node --dir %s --name %s %s tap0`, l.Cluster.Program, cluster, name, l.Cluster.Program, clusterDir, cluster, name))
	})
}

// preferred keeps what may run anywhere, as runners do, off the slow machines.
func (l *lab) preferred() {
	// kubectl wait --for=create ends at once where two objects are missing
	l.mustOnDesk("timeout 300 bash -c 'until kubectl get nodes gen-1 dut-1; do sleep 1; done' && " +
		"kubectl taint node gen-1 dut-1 lab=emulated:PreferNoSchedule")
}

// calmNodes gives what runs beside the pods a third of a processor, for as long as linerate measures. Emulated, a
// kubelet and its runtime use more than one, and the two machines share two.
func (l *lab) calmNodes() { l.grantNodes("33000 100000") }

// hurryNodes takes that limit away: a node that makes or removes pods with a third of a processor takes minutes.
func (l *lab) hurryNodes() { l.grantNodes("max") }

// grantNodes grants what runs beside the pods of each machine so much of its processors, in the words of cgroups.
func (l *lab) grantNodes(share string) {
	l.everywhere(func(name string) {
		l.inside(name, `set -eu
mkdir -p /sys/fs/cgroup/beside
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
echo "`+share+`" >/sys/fs/cgroup/beside/cpu.max
for process in $(pgrep -x 'kubelet|containerd|kube-proxy|multus-daemon|sriovdp'); do echo $process >/sys/fs/cgroup/beside/cgroup.procs; done`)
	})
}

// startPlugins starts on each machine the device plugin with the configuration that the page has applied.
func (l *lab) startPlugins() {
	config, err := l.onDesk(`kubectl -n kube-system get configmap sriovdp-config -o jsonpath='{.data.config\.json}'`)
	if err != nil {
		l.Fatal(err)
	}
	l.everywhere(func(name string) {
		l.inside(name, "mkdir -p /etc/pcidp; cat >/etc/pcidp/config.json <<'END'\n"+config+"\nEND")
		if plugin := os.Getenv("SRIOV_CNI"); plugin != "" {
			l.inside(name, l.node("plugin")+plugin)
		}
		program := filepath.Join(l.Programs, incluster.PCIPlugin)
		if given := os.Getenv("SRIOVDP"); given != "" {
			program = given + " -logtostderr"
		}
		l.inside(name, l.node("daemon")+name+" sriovdp -- "+program)
	})
}

// networkChange is what the networks are without the SR-IOV CNI: the usual plugin that moves a function into a pod
// sets neither its MAC address nor what the port checks.
func networkChange() (from, to string) {
	return `"type": "sriov", "capabilities": {"mac": true}, "spoofchk": "on", "trust": "on"`,
		`"type": "host-device", "capabilities": {"deviceID": true}`
}

// loadGenerator gives the machines the project's image, but only what a generator and a Reference need of it.
func (l *lab) loadGenerator() {
	program := map[string]string{"/linerate": l.Images.Programs["/linerate"]}
	l.load("generator.tar", rig.Repository+":"+l.Images.Tag, program, pack.Project())
}

// loadTRex gives the machines the image of TRex, or of what stands for it.
func (l *lab) loadTRex() {
	if archive := os.Getenv("TREX"); archive != "" {
		l.everywhere(func(name string) { l.inside(name, l.node("load")+archive) })
		return
	}
	l.load("trex.tar", rig.TRex, map[string]string{"/opt/trex/v3.08/_t-rex-64": filepath.Join(l.Programs, "trex")}, pack.Config{})
}

// load packs an image and gives it to the machines. Each image has an archive of its own, as a machine that has read a
// file doesn't see what the host writes into the file later.
func (l *lab) load(archive, image string, files map[string]string, config pack.Config) {
	l.Helper()
	archive = filepath.Join(l.Programs, archive)
	if err := pack.Pack(archive, image, files, config); err != nil {
		l.Fatal(err)
	}
	l.everywhere(func(name string) { l.inside(name, l.node("load")+archive) })
}
