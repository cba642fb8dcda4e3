package bundle_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/bundle"
)

// Each row is a line or file of a machine's, what of it is a secret, and the rule that leaves it out.
func TestSecretsAreLeftOut(t *testing.T) {
	const key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
	for text, c := range map[string]struct{ secret, rule string }{
		"host key:\n" + key + "\nafter":                                                          {"b3BlbnNzaC1rZXktdjEAAAAA", "PrivateKey"},
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEcut":                                               {"MIIEcut", "PrivateKey"},
		"-----BEGIN OpenVPN Static key V1-----\n0011aabb\n-----END OpenVPN Static key V1-----":   {"", ""},
		"    client-key-data: LS0tLS1CRUdJTg==":                                                  {"LS0tLS1CRUdJTg==", "KubeconfigData"},
		"    token: k8s-aws-v1.aHR0cHM6":                                                         {"k8s-aws-v1.aHR0cHM6", "Setting"},
		"GET / HTTP/1.1\nAuthorization: Basic bGFiOmxhYg==\nHost: a":                             {"bGFiOmxhYg==", "Authorization"},
		`curl -H "Authorization: token 0123456789"`:                                              {"0123456789", "Authorization"},
		"Set-Cookie: session=abcdef":                                                             {"abcdef", "Cookie"},
		"sent Bearer abcdefgh12345":                                                              {"abcdefgh12345", "Bearer"},
		"jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIx.c2lnbmF0dXJl end":                                     {"eyJzdWIiOiIx", "JWT"},
		"AKIAIOSFODNN7EXAMPLE":                                                                   {"AKIAIOSFODNN7EXAMPLE", "CloudToken"},
		"remote https://git:hunter2@git.lab/a":                                                   {"hunter2", "URLPassword"},
		"root:$6$rounds$abcdefghijklmno:19000:0":                                                 {"abcdefghijklmno", "PasswordHash"},
		"enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0":                                         {"hx5rVt7rPNoS4wqbXKX7m0", "PasswordHash"},
		"snmp-server community lab RO":                                                           {" lab ", "SNMP"},
		"snmp-server host 192.0.2.1 traps version 2c lab":                                        {"2c lab", "SNMP"},
		"rocommunity lab 192.0.2.0/24":                                                           {"lab", "SNMP"},
		"com2sec local default lab":                                                              {"lab", "SNMP"},
		"createUser sha SHA longpassword AES otherpassword":                                      {"otherpassword", "SNMP"},
		"set snmp community lab authorization read-only":                                         {"community lab", "SNMP"},
		"\tauth-trunc hmac(sha256) 0x00112233445566778899aabbccddeeff 128":                       {"0x00112233445566778899", "KernelKey"},
		"\taead rfc4106(gcm(aes)) 0x00112233445566778899aabbccddeeff00112233 128":                {"0x00112233445566778899", "KernelKey"},
		"net.ipv4.tcp_fastopen_key = 01234567-89abcdef-01234567-89abcdef":                        {"89abcdef", "KernelKey"},
		"wg0\tyAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\toff":                                 {"yAnz5TF", "WireGuard"},
		"PrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=":                              {"yAnz5TF", "WireGuard"},
		"<user><bcrypt-hash>x.y.z</bcrypt-hash></user>":                                          {"x.y.z", "XMLSecret"},
		"<pre-shared-key>lab key</pre-shared-key>":                                               {"lab key", "XMLSecret"},
		`<rocommunity>lab</rocommunity>`:                                                         {"lab<", "XMLSecret"},
		"neighbor 192.0.2.1 password hunter2":                                                    {"hunter2", "Setting"},
		"username admin password 7 094F471A1A0A":                                                 {"094F471A1A0A", "Setting"},
		"  key-string 0 hunter2":                                                                 {"hunter2", "Setting"},
		`password = "two words"`:                                                                 {"two words", "Setting"},
		"DB_PASSWORD=hunter2":                                                                    {"hunter2", "Setting"},
		`"api_key": "hunter2"`:                                                                   {"hunter2", "Setting"},
		"wpa_psk=hunter2hunter2":                                                                 {"hunter2", "Setting"},
		"community: lab":                                                                         {" lab", "Setting"},
		"set system login user a authentication encrypted-password \"$1$abcdefgh$abcdefghijkl\"": {"abcdefghijkl", "PasswordHash"},
		"/usr/bin/tool --auth-token hunter2 --rate 5":                                            {"hunter2", "Setting"},
		`{"auths":{"r.lab":{"auth":"bGFiOmxhYg=="}}}`:                                            {"bGFiOmxhYg==", "Encoded"},
	} {
		redacted, leftOut := bundle.Redact("collected/x", "/etc/x", []byte(text))
		if c.rule == "" {
			continue
		}
		if strings.Contains(string(redacted), c.secret) {
			t.Errorf("%q keeps %q: %q", text, c.secret, redacted)
		}
		if len(leftOut) == 0 || !ruleIn(leftOut, c.rule) || leftOut[0].Member != "collected/x" || leftOut[0].Places == 0 {
			t.Errorf("%q: left out %+v, want %s", text, leftOut, c.rule)
		}
	}
}

func ruleIn(leftOut []bundle.LeftOut, rule string) bool {
	for _, l := range leftOut {
		if l.Rule == rule {
			return true
		}
	}
	return false
}

func TestWhatIsNoSecretStays(t *testing.T) {
	for _, text := range []string{
		"net.ipv4.ip_forward = 1\nkernel.keys.maxkeys = 200\nnet.core.rmem_max = 212992\n",
		"2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq state UP\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n",
		"     rx_packets: 100\n     tx_packets: 200\n     rx_no_buffer_count: 0\n",
		"pass in quick on em0 inet proto tcp from any to any port = ssh flags S/SA keep state\n",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n",
		"GRUB_CMDLINE_LINUX=\"isolcpus=2-7 nohz_full=2-7\"\nUUID=0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f\n",
	} {
		if redacted, leftOut := bundle.Redact("m", "/etc/x", []byte(text)); string(redacted) != text || len(leftOut) != 0 {
			t.Errorf("%q became %q: %+v", text, redacted, leftOut)
		}
	}
}

func TestFilesThatAreLeftOutWhole(t *testing.T) {
	for machinePath, rule := range map[string]string{
		"/etc/shadow": "KeyFile", "/root/.ssh/known_hosts": "KeyFile", "/etc/ssh/ssh_host_ed25519_key": "KeyFile",
		"/etc/ssl/private/a.pem": "KeyFile", "/etc/a.key": "KeyFile", "/etc/wireguard/../shadow": "KeyFile",
		"/root/.kube/config": "Kubeconfig", "/etc/kubernetes/admin.conf": "Kubeconfig", "/home/a/lab.kubeconfig": "Kubeconfig",
	} {
		redacted, leftOut := bundle.Redact("m", machinePath, []byte("a"))
		if redacted != nil || len(leftOut) != 1 || !leftOut[0].Whole || leftOut[0].Rule != rule {
			t.Errorf("%s: %q, %+v, want none by %s", machinePath, redacted, leftOut, rule)
		}
	}
	for name, content := range map[string]string{"binary": "a\x00b", "packed": "\x1f\x8b\x08"} {
		if redacted, leftOut := bundle.Redact("m", "/var/log/a", []byte(content)); redacted != nil || len(leftOut) != 1 ||
			leftOut[0].Rule != "NotText" {
			t.Errorf("%s: %q, %+v", name, redacted, leftOut)
		}
	}
	for _, machinePath := range []string{"/etc/pf.conf", "/proc/interrupts", "/etc/ssh/sshd_config"} {
		if redacted, _ := bundle.Redact("m", machinePath, []byte("a")); string(redacted) != "a" {
			t.Errorf("%s is left out", machinePath)
		}
	}
}
