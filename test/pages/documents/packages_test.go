package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// machine is a directory of programs in which hack/ci-packages looks for what there is, and a log of what its apt-get was asked for.
func machine(t *testing.T, uid string, programs ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	bodies := map[string]string{"id": "echo " + uid, "apt-get": `echo "apt-get $*" >>"$0.log"
folder=${0%/*}
if [ -e "$folder/unknown" ]; then echo "E: Unable to locate package runc"; exit 100; fi
# Another program has the lock until apt-get was asked once.
if [ -e "$folder/locked" ] && [ ! -e "$folder/asked" ]; then
	: >"$folder/asked"
	echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 19362 (unattended-upgr)" >&2
	echo "E: Unable to lock directory /var/lib/apt/lists/" >&2
	exit 100
fi`, "host-device": "exit 1"}
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(programs, "id") {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+bodies[name]+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMissingPackagesAreInstalled: a target of the Makefile needs no other step before.
func TestMissingPackagesAreInstalled(t *testing.T) {
	everything := []string{"apt-get", "gcc", "make", "runc", "nft", "ip", "host-device", "iperf3", "iperf", "snmpd", "tidy"}
	for name, c := range map[string]struct {
		uid, want string
		programs  []string
		patience  string // APT_PATIENCE
		// asked is what apt-get was asked for, said is in what is said; empty: nothing.
		asked, said string
		fails       bool
	}{
		"nothing is lacking":                      {uid: "0", programs: everything},
		"nothing is lacking, as an ordinary user": {uid: "1000", programs: everything},
		"a compiler isn't needed for a cluster":   {uid: "0", want: "cluster", programs: []string{"apt-get", "runc", "nft", "ip", "host-device"}},
		"a cluster isn't needed for a compiler":   {uid: "1000", want: "race", programs: []string{"apt-get", "gcc"}},
		"runc and the plugins are lacking": {uid: "0", want: "cluster", programs: []string{"apt-get", "nft", "ip"},
			asked: "apt-get update -qq\napt-get install -y -qq --no-install-recommends runc containernetworking-plugins\n", said: "missing: apt-get install"},
		"everything is lacking": {uid: "0", programs: []string{"apt-get"},
			asked: "apt-get update -qq\napt-get install -y -qq --no-install-recommends gcc libc6-dev runc nftables iproute2 containernetworking-plugins iperf3 iperf snmpd tidy make\n", said: "missing: "},
		"nft is lacking, as an ordinary user": {uid: "1000", want: "cluster", programs: []string{"apt-get", "runc", "ip", "host-device"},
			said: "as root, type: apt-get update && apt-get install -y -qq --no-install-recommends nftables", fails: true},
		"nft is lacking, and it isn't a Debian": {uid: "0", want: "cluster", programs: []string{"runc", "ip", "host-device"}, said: "isn't a Debian", fails: true},
		"devices of Linux lack nothing":         {uid: "1000", want: "devices", programs: []string{"apt-get", "dpdk-testpmd", "swanctl", "charon", "plugins/libstrongswan-kernel-libipsec.so", "plugins/libstrongswan-openssl.so"}},
		"devices of Linux lack their programs": {uid: "0", want: "devices", programs: []string{"apt-get", "charon"},
			asked: "apt-get update -qq\napt-get install -y -qq --no-install-recommends dpdk-dev strongswan-swanctl libcharon-extra-plugins libstrongswan-standard-plugins\n", said: "missing: apt-get install"},
		"programs to compare with are lacking": {uid: "0", want: "senders", programs: []string{"apt-get", "hping3"},
			asked: "apt-get update -qq\napt-get install -y -qq --no-install-recommends netsniff-ng xdp-tools\n", said: "missing: apt-get install"},
		"another program has the lock for a while": {uid: "0", want: "cluster", programs: []string{"apt-get", "nft", "ip", "host-device", "sleep", "locked"},
			asked: "apt-get update -qq\napt-get update -qq\napt-get install -y -qq --no-install-recommends runc\n", said: "waiting up to 600 s for /var/lib/apt/lists/lock, which process 19362 (unattended-upgr) holds"},
		"another program keeps the lock": {uid: "0", want: "cluster", patience: "0", programs: []string{"apt-get", "nft", "ip", "host-device", "sleep", "locked"},
			asked: "apt-get update -qq\n", said: "waited 0 s for /var/lib/apt/lists/lock, which process 19362 (unattended-upgr) holds: type the command again", fails: true},
		"a package doesn't exist": {uid: "0", want: "cluster", programs: []string{"apt-get", "nft", "ip", "host-device", "unknown"},
			asked: "apt-get update -qq\n", said: "Unable to locate package", fails: true},
		"something else is asked for": {uid: "0", want: "sideways", programs: everything, said: "usage: ", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := machine(t, c.uid, c.programs...)
			cmd := exec.CommandContext(t.Context(), "/bin/bash", append([]string{tree + "/hack/ci-packages"}, strings.Fields(c.want)...)...)
			cmd.Env = []string{"PATH=" + dir, "CNI_PLUGINS=" + dir, "STRONGSWAN=" + dir, "APT_PATIENCE=" + c.patience}
			said, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(said), c.said) || c.said == "" && len(said) > 0 {
				t.Errorf("%v: %q, want %q", err, said, c.said)
			}
			asked, err := os.ReadFile(filepath.Join(dir, "apt-get.log"))
			if string(asked) != c.asked || err != nil && !os.IsNotExist(err) {
				t.Errorf("asked for %q, want %q: %v", asked, c.asked, err)
			}
		})
	}
}

// TestEachTargetHasItsPackages: what brings up a cluster has its packages installed first, what uses the race detector a compiler.
func TestEachTargetHasItsPackages(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(tree, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for target := range strings.SplitSeq(string(makefile), "\n\n") {
		for needs, uses := range map[string][]string{"packages": {"./hack/cluster", "./test/cluster/e2e", "./test/cluster/faults"}, "compiler": {"$(RACE) "}} {
			for _, u := range uses {
				if _, recipe, is := strings.Cut(target, "\n\t"); !is || !strings.Contains(recipe, u) {
					continue
				}
				seen++
				rule, _, _ := strings.Cut(target, "\n\t")
				rule = rule[strings.LastIndex(rule, "\n")+1:]
				_, first, _ := strings.Cut(rule, ": ")
				if before, _, _ := strings.Cut(first, " ## "); !strings.HasPrefix(before+" ", needs+" ") {
					t.Errorf("%q uses %q, and doesn't begin with %s", rule, u, needs)
				}
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d were seen: are they written in another way?", seen)
	}
}
