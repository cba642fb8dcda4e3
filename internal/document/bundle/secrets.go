package bundle

import (
	"bytes"
	"path"
	"regexp"
	"unicode/utf8"
)

// rule is a kind of secret that leaves no machine in a bundle. Either files leaves whole files out, by their paths on
// the machine, or text replaces what it finds in a file. Where text has a group, only the group is replaced, so that
// readers see which setting there was.
type rule struct {
	name   string
	reason string
	files  *regexp.Regexp
	text   *regexp.Regexp
}

// word is a setting's value: quoted, or up to the next space.
const word = `("[^"\r\n]*"|'[^'\r\n]*'|[^\s"'<>,;{}\[\]]+)`

// rules are all rules, in the order in which they are applied. docs/security.md lists them.
var rules = []rule{
	{name: "KeyFile", reason: "a file that holds keys or passwords, by its name", files: regexp.MustCompile(
		`(?i)(^|/)(shadow-?|gshadow-?|\.netrc|\.pgpass|\.htpasswd|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|` +
			`ssh_host_[a-z0-9]+_key|ipsec\.secrets|chap-secrets|pap-secrets|krb5\.keytab|credentials)$` +
			`|\.(key|keytab|p12|pfx|jks|kdbx|ppk)$|(^|/)(\.ssh|\.gnupg|\.aws|private)/`)},
	{name: "Kubeconfig", reason: "a kubeconfig, by its name", files: regexp.MustCompile(
		`(?i)(^|/)(\.kube/|kubeconfig|admin\.conf$|super-admin\.conf$|kubelet\.conf$|.*\.kubeconfig$)`)},
	{name: "PrivateKey", reason: "a private key", text: regexp.MustCompile(
		`(?s)-----BEGIN [A-Z0-9 ]*(?:PRIVATE KEY|STATIC KEY V1)[A-Z0-9 ]*-----.*?(?:-----END [A-Z0-9 ]+-----|\z)`)},
	{name: "KubeconfigData", reason: "a key or token of a kubeconfig", text: regexp.MustCompile(
		`(?i)\b(?:client-key-data|client-certificate-data|id-token|refresh-token|access-token)"?\s*:\s*` + word)},
	{name: "Authorization", reason: "an Authorization header or a cookie", text: regexp.MustCompile(
		`(?im)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?([^"'\r\n]+)`)},
	{name: "Cookie", reason: "a cookie", text: regexp.MustCompile(`(?im)\b(?:set-)?cookie["']?\s*:\s*["']?([^"'\r\n]+)`)},
	{name: "Bearer", reason: "a bearer's token", text: regexp.MustCompile(`(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{8,})`)},
	{name: "JWT", reason: "a signed token", text: regexp.MustCompile(
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)},
	{name: "CloudToken", reason: "a token of a service, by its form", text: regexp.MustCompile(
		`\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|` +
			`xox[abprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{20,})`)},
	{name: "URLPassword", reason: "a password in a URL", text: regexp.MustCompile(
		`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@`)},
	{name: "PasswordHash", reason: "the hash of a password", text: regexp.MustCompile(
		`\$(?:1|2[abxy]?|5|6|7|8|9|14|y|gy|sha1|apr1|md5|argon2[a-z]*)\$[^\s:"'<>,;]{8,}`)},
	{name: "SNMP", reason: "an SNMP community or password", text: regexp.MustCompile(
		`(?im)\bsnmp(?:-server)?[ \t]+(?:host[ \t]+\S+[ \t]+(?:(?:traps?|informs?|version[ \t]+\S+)[ \t]+)*|community[ \t]+)` +
			word)},
	{name: "SNMP", reason: "an SNMP community or password", text: regexp.MustCompile(
		`(?im)^[ \t]*(?:r[ow]community6?|trapcommunity|authcommunity[ \t]+\S+)[ \t]+` + word)},
	{name: "SNMP", reason: "an SNMP community or password", text: regexp.MustCompile(
		`(?im)^[ \t]*com2sec6?(?:[ \t]+-Cn[ \t]+\S+)?[ \t]+\S+[ \t]+\S+[ \t]+` + word)},
	{name: "SNMP", reason: "an SNMP community or password", text: regexp.MustCompile(
		`(?im)^[ \t]*(?:createUser|usmUser|snmp-server user)[ \t]+\S+[ \t]+([^\r\n]+)`)},
	{name: "KernelKey", reason: "a key of the kernel's", text: regexp.MustCompile(
		`(?im)\b(?:auth|auth-trunc|enc|aead|comp)[ \t]+\S+[ \t]+(0x[0-9a-fA-F]{16,})`)},
	{name: "KernelKey", reason: "a key of the kernel's", text: regexp.MustCompile(
		`(?im)\b(?:tcp_fastopen_key|stable_secret)\s*=\s*` + word)},
	{name: "WireGuard", reason: "a key of WireGuard's form", text: regexp.MustCompile(
		`(?:^|[^A-Za-z0-9+/=])([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)(?:$|[^A-Za-z0-9+/=])`)},
	{name: "XMLSecret", reason: "an element of XML that is named as a secret", text: regexp.MustCompile(
		`(?is)<(?:[a-z0-9_:-]*(?:password|passwd|passphrase|secret|token|api-?key|bcrypt-hash|sha512-hash|md5-hash|` +
			`pre-?shared-?key|psk|community|private-?key|prv)[a-z0-9_:-]*)(?:\s[^>]*)?>([^<]+)<`)},
	{name: "Setting", reason: "a setting that is named as a password, key, token or community", text: regexp.MustCompile(
		`(?im)(?:\b|[_-])(?:[a-z0-9]*(?:password|passwd|passphrase|secret|token)[a-z0-9]*|pwd|api[_-]?key|access[_-]?key|` +
			`private[_-]?key|pre-?shared[_-]?key|encryption[_-]?key|auth(?:entication)?[_-]?key|key-string|psk|wpa[_-]psk|` +
			`community|community[_-]?string)["']?[ \t]*(?:[:=]+[ \t]*|[ \t]+)(?:(?:encrypted|sha512|md5|[0-9])[ \t]+)*` + word)},
	{name: "Flag", reason: "a program's argument that is named as a password or token", text: regexp.MustCompile(
		`(?i)(?:^|\s)--?[a-z0-9-]*(?:password|passwd|passphrase|secret|token|api-?key|community)[=\s]` + word)},
	{name: "Encoded", reason: "credentials of a registry or proxy", text: regexp.MustCompile(
		`(?i)"(?:auth|identitytoken|registrytoken)"\s*:\s*"([^"]+)"`)},
}

// Redact leaves out of a file, of this path on its machine, what the rules find. The file of a member is left out
// whole where a rule says so, or no rule can look through it; then content is nil.
func Redact(member, machinePath string, content []byte) (redacted []byte, leftOut []LeftOut) {
	whole := func(name, reason string) ([]byte, []LeftOut) {
		return nil, []LeftOut{{Member: member, Whole: true, Rule: name, Reason: reason}}
	}
	for _, r := range rules {
		if r.files != nil && r.files.MatchString(path.Clean(machinePath)) {
			return whole(r.name, r.reason)
		}
	}
	if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
		return whole("NotText", "it isn't text, so nobody can look for secrets in it")
	}
	for _, r := range rules {
		if r.text == nil {
			continue
		}
		var places int
		content, places = r.replace(content)
		if last := len(leftOut) - 1; places > 0 && last >= 0 && leftOut[last].Rule == r.name {
			leftOut[last].Places += places
		} else if places > 0 {
			leftOut = append(leftOut, LeftOut{Member: member, Rule: r.name, Reason: r.reason, Places: places})
		}
	}
	return content, leftOut
}

// SecretIn is the rule that finds something in a text, or empty where none does.
func SecretIn(text string) (reason string) {
	_, leftOut := Redact("", "", []byte(text))
	if len(leftOut) == 0 {
		return ""
	}
	return leftOut[0].Reason
}

// replacement stands where something was left out.
func (r rule) replacement() []byte { return []byte("(left out: " + r.name + ")") }

// replace replaces the rule's group, or all that it finds where it has none.
func (r rule) replace(content []byte) (replaced []byte, places int) {
	position := 0
	for _, found := range r.text.FindAllSubmatchIndex(content, -1) {
		from, to := found[0], found[1]
		if len(found) > 2 && found[2] >= 0 {
			from, to = found[2], found[3]
		}
		if bytes.HasPrefix(content[from:], []byte("(left")) { // by a rule before
			continue
		}
		replaced = append(append(replaced, content[position:from]...), r.replacement()...)
		position = to
		places++
	}
	return append(replaced, content[position:]...), places
}
