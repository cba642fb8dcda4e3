package collect_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// snmpd starts net-snmp's agent, of Debian's package, on a port of this machine's until the test ends. The
// community lab may read, and the users that these lines of its configuration let read.
func snmpd(t *testing.T, lines ...string) (address string) {
	t.Helper()
	program, err := exec.LookPath("snmpd")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("this test wants snmpd itself: hack/ci-packages installs it")
		}
		t.Skip("needs snmpd itself: apt-get install snmpd")
	}
	free, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.LocalAddr().String()
	_ = free.Close()
	config := filepath.Join(t.TempDir(), "snmpd.conf")
	if err := os.WriteFile(config, []byte("rocommunity lab 127.0.0.1\n"+strings.Join(lines, "\n")+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, "-f", "-Lo", "-C", "-c", config, "udp:"+address)
	cmd.Env = append(os.Environ(), "SNMP_PERSISTENT_DIR="+t.TempDir(), "MIBS=")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	return address
}

func TestNetSNMPsAgentTellsWhatTheKernelCounts(t *testing.T) {
	address := snmpd(t)
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	credentials := secrets(t, map[string]string{"agent/community": "lab"})
	octets := object(address, fmt.Sprintf(".1.3.6.1.2.1.31.1.1.1.6.%d", loopback.Index), "8")
	octets.SNMP.Secret, octets.SNMP.Unit = "agent", "bit"
	a := answered(t, octets, credentials)
	for end := time.Now().Add(30 * time.Second); a.Missing != "" && time.Now().Before(end); { // until the agent listens
		a = answered(t, octets, credentials)
	}
	if n := number(t, a, "value", octets.SNMP.OID); n.Kind != report.Counter || n.Value <= 0 || int64(n.Value)%8 != 0 {
		t.Errorf("%+v, want what lo received in octets, times 8", n)
	}
	uptime := object(address, ".1.3.6.1.2.1.1.3.0", "0.01")
	uptime.SNMP.Secret = "agent"
	if n := number(t, answered(t, uptime, credentials), "value", uptime.SNMP.OID); n.Kind != report.Gauge ||
		n.Value < 0 || n.Value > 3600 {
		t.Errorf("%+v, want for how many seconds the agent has run", n)
	}
	absent := object(address, ".1.3.6.1.2.1.1.99.0", "1")
	absent.SNMP.Secret = "agent"
	if a := answered(t, absent, credentials); !strings.Contains(a.Missing, "it has no object .1.3.6.1.2.1.1.99.0") {
		t.Errorf("%+v", a)
	}
}

func TestNetSNMPsAgentKnowsUsers(t *testing.T) {
	const uptime = ".1.3.6.1.2.1.1.3.0"
	address := snmpd(t,
		"createUser old SHA longpassword AES otherpassword", "rouser old authpriv",
		"createUser new SHA-256 longpassword AES otherpassword", "rouser new authpriv",
		"createUser open SHA-256 longpassword AES otherpassword",
		"createUser authonly SHA-256 longpassword", "rouser authonly auth")
	user := func(name string, keysAndValues ...string) map[string]string {
		files := map[string]string{"agent/username": name, "agent/authPassword": "longpassword\n",
			"agent/privPassword": "otherpassword"}
		for i := 0; i < len(keysAndValues); i += 2 {
			files["agent/"+keysAndValues[i]] = keysAndValues[i+1]
		}
		return files
	}
	o := object(address, uptime, "0.01")
	o.SNMP.Secret = "agent"
	// until the agent listens
	for end := time.Now().Add(30 * time.Second); answered(t, o,
		secrets(t, map[string]string{"agent/community": "lab"})).Missing != "" && time.Now().Before(end); {
	}
	for name, files := range map[string]map[string]string{"SHA and AES": user("old", "authProtocol", "SHA",
		"privProtocol", "AES"), "what is taken without saying": user("new"), "a community besides": user("new",
		"community", "nobody's")} {
		if n := number(t, answered(t, o, secrets(t, files)), "value", uptime); n.Value < 0 || n.Value > 3600 {
			t.Errorf("%s: %+v, want for how many seconds the agent has run", name, n)
		}
	}
	for want, files := range map[string]map[string]string{
		"it doesn't know the user of secret agent":    user("nobody"),
		"or not by its authPassword and authProtocol": user("new", "authPassword", "wrongpassword"),
		"it doesn't know the user of secret agent, or not by its authP": user("authonly", "authPassword",
			"wrongpassword"),
		"it knows the user of secret agent, and gives it no encrypted ": user("authonly"),
		"encrypted with privPassword and privProtocol of secret agent":  user("new", "privPassword", "wrongpassword"),
		"secret agent: authPassword has fewer than 8 characters":        user("new", "authPassword", "short"),
		"secret agent: authProtocol is none of SHA, SHA-224, SHA-256":   user("new", "authProtocol", "MD5"),
		"secret agent: privProtocol is none of AES, AES-192, AES-256":   user("new", "privProtocol", "DES"),
		"secret agent has no key community, and for version 3 no usern": {"agent/password": "x"},
	} {
		missing(t, answered(t, o, secrets(t, files)), want)
	}
}
