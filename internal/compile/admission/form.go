package admission

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/linerate-dev/linerate/internal/units"
)

// nameForm begins the form of a name, which ends with the field's own example.
const nameForm = "a name is made of at most "

const share = `^(\d{1,2}(\.\d{1,7})?|100)%$`

// forms say for each pattern of the schemas how a value is written. An API server shows the pattern itself.
var forms = map[string]string{
	`^(\d{1,6}(\.\d{1,9})?(ms|s|m|h)){1,4}$`: "write a duration with its unit, such as 500ms, 30s, 10m or 1h30m",
	share:                                    "write a share from 0% to 100%, such as 0.1%",
	`^\d{1,15}(\.\d{1,9})?%?$`:               `write a number in quotes, such as "150000", or a share with its percent sign, such as 95%`,
	`^\d{1,12}(\.\d{1,6})?(%|[kmg]?(pps|bps|bpsl1))$`: "write a rate above 0: packets (14.88mpps), layer-2 bits " +
		"(10gbps), layer-1 bits (10gbpsl1) or percent of line rate (95%)",
	`^(Unlimited|\d{1,12}(\.\d{1,6})?(%|[kmg]?(pps|bps|bpsl1)))$`: "write a rate above 0: packets (14.88mpps), " +
		"layer-2 bits (10gbps), layer-1 bits (10gbpsl1) or percent of line rate (95%); or Unlimited for sessions",
	`^\d{1,12}(\.\d{1,6})?[kmg]?bps$`: "write a line rate in bits per second, such as 100mbps, 1gbps or 25gbps",
	`^-?[0-9]{1,9}([.][0-9]{1,9})?$`:  "write a decimal number in quotes, such as \"0.1\"",
	`^[1-9][0-9]{0,11}(Ki|Mi|Gi|Ti)$`: "write an amount of memory with its unit, such as 512Mi or 4Gi",
	`^[1-9][0-9]{0,5}(Ki|Mi)?$`:       "write a size in bytes, or with its unit, such as \"1400\", 128Ki or 1Mi",
	`^[a-i]+$`: "write a letter of RFC 6985 for each frame: a 64 bytes, b 128, c 256, d 512, e 1024, f 1280, g 1518, " +
		"h 2112, i 9000; other sizes go into mix",
	`^[A-Za-z0-9+/]+=*$`:       "write base64, as linerate mix --pcap FILE prints it",
	`^[1-9][0-9]{0,5}(Ki|Mi)$`: "write a size with its unit, such as 128Ki or 1Mi",

	`^[a-z]([-a-z0-9]{0,11}[a-z0-9])?$`: "a link's name is made of lower-case letters, digits and dashes, begins with a " +
		"letter and has at most 13 characters, such as west",
	`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`: "a LoadTest's name is made of at most 40 lower-case letters, digits and dashes, " +
		"such as vpp-main",
	`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`:   nameForm + "63 lower-case letters, digits and dashes",
	`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`:       "write a node's name as kubectl get nodes shows it, such as gen-1",
	`^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$`: nameForm + "253 lower-case letters, digits, dashes and dots",
	`^[A-Za-z0-9]([-_.A-Za-z0-9]{0,18}[A-Za-z0-9])?$`: "a goal's name is at most 20 letters and digits, with - _ . between " +
		"them, such as NDR or pdr-0.5",
	`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/)?[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`: "write a network as the name of a " +
		"NetworkAttachmentDefinition, with its namespace where it isn't the test's: sriov-west or lab/sriov-west",
	`^[a-z0-9][a-z0-9_-]*$`: "write an algorithm as Linux names it, such as cubic, reno or bbr",
	`^[^ \t\n]+$`:           "write an image's name without spaces, such as registry.lab/tools:1",
	`^sha256:[0-9a-f]{64}$`: "write a digest as status.report has it: sha256: and 64 hexadecimal digits",
	`^/`:                    "write a whole path, such as /opt/trex",
	`^/[^[:cntrl:]]*$`:      "write a whole path, such as /proc/interrupts",
	`^[^[:cntrl:]]*$`:       "write one line of text, such as 149 USD",
	`^[ -~]{1,64}$`:         "write the sensor's name of at most 64 ASCII characters, as ipmitool lists it, such as CPU Temp",
	`^[-._~A-Za-z0-9]{1,128}$`: "chassis is an Id of letters, digits, dots and dashes, as the controller lists it under " +
		"/redfish/v1/Chassis",

	`^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$`: "write one device's MAC address (no group address) as six pairs of " +
		"hexadecimal digits, such as 02:00:5e:00:53:01",
	`^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[[][0-9a-fA-F:.]+[]])(:[1-9][0-9]{0,4})?$`: "write a host, with or without " +
		"a port, such as trex.lab:4501, 192.0.2.7 or [2001:db8::7]:161",
	`^https?://[^/@?# ]+(/[^@?# ]*)?$`: "url begins with http:// or https://, and has neither user, password nor " +
		"parameters, such as http://prometheus.lab:9090: credentials are a Secret's",
	`^https?://[^/@?# ]+/?$`: "url begins with https:// (or http://), and has neither user, password nor path, such as " +
		"https://bmc.lab: credentials are a Secret's",
	`^[.]?[0-2]([.][0-9]{1,10})+$`:                 "oid is numbers and dots, such as 1.3.6.1.2.1.1.3.0: names of MIBs aren't known here",
	`^[^ [:cntrl:]]([^[:cntrl:]]*[^ [:cntrl:]])?$`: "unit is one word or two, such as W or °C",

	"cidr": "write an address or a network with its prefix length, such as 198.18.0.2/24 or 2001:2:0:100::/64",
}

// form is how a value is written that doesn't match a pattern or a format, in the words "must match '^…$'" or "must be
// of type cidr: …". Of a share it is what the value has to become, and of a number with too many digits how many it may
// have.
func form(words string, value any) (string, bool) {
	pattern, found := strings.CutPrefix(words, "must match '")
	pattern = strings.TrimSuffix(pattern, "'")
	if format, isFormat := strings.CutPrefix(words, "must be of type "); isFormat {
		pattern, _, found = strings.Cut(format, ":")
	}
	text, listed := forms[pattern]
	if _, err := units.ParseShare(fmt.Sprint(value)); pattern == share && err != nil {
		text = err.Error()
	} else if fewer := fewerDigits(pattern, fmt.Sprint(value)); listed && fewer != "" {
		text = fewer
	}
	return text, found && listed
}

// digits are the parts of patterns that bound how many digits a number has.
var digits = regexp.MustCompile(`(?:\\d|\[0-9\])\{1,([0-9]+)\}`)

// fewerDigits says how many digits a value may have that matches a pattern but for their number. It is empty for
// another value.
func fewerDigits(pattern, value string) string {
	bounds := digits.FindAllStringSubmatch(pattern, 2)
	unbounded, err := regexp.Compile(digits.ReplaceAllString(pattern, "[0-9]+"))
	switch {
	case len(bounds) == 0 || err != nil || !unbounded.MatchString(value):
		return ""
	case len(bounds) == 1:
		return "write at most " + bounds[0][1] + " digits"
	}
	return fmt.Sprintf("write at most %s digits before the point, and %s behind it", bounds[0][1], bounds[1][1])
}
