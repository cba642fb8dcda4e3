package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gosnmp/gosnmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// The keys of a Secret that is shown to SNMP agents. Version 2c takes a community, version 3 a user.
const (
	keyCommunity    = "community"
	keyAuthProtocol = "authProtocol"
	keyAuthPassword = "authPassword"
	keyPrivProtocol = "privProtocol"
	keyPrivPassword = "privPassword"
)

// A question to an agent is repeated so often within a reading, as UDP loses some.
const (
	agentTime    = 2 * time.Second
	agentRetries = 1
)

// snmp is an agent that is asked for one object, by version 3 where the Secret has a user of it, else by version 2c.
type snmp struct {
	object    plan.SNMPObject
	secret    secret
	community string
	user      *gosnmp.UsmSecurityParameters // nil for version 2c
	scale     *big.Rat
	host      string
	port      uint16
	memory    *agent
}

// agent is what is remembered of an agent, or a machine, from one reading to the next.
type agent struct {
	shell    shell
	answered bool
	counter  counter
}

func newSNMP(o plan.SNMPObject, s secret, memory *agent) (source, error) {
	shown, err := s.values(keyCommunity, keyUser, keyAuthProtocol, keyAuthPassword, keyPrivProtocol, keyPrivPassword)
	if err != nil {
		return nil, err
	}
	user, err := userOf(s, shown)
	if err != nil {
		return nil, err
	}
	if s.name != "" && shown[keyCommunity] == "" && user == nil {
		return nil, fmt.Errorf("secret %s has no key %s, and for version 3 no %s", s.name, keyCommunity, keyUser)
	}
	host, text, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", o.Address, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", o.Address, err)
	}
	scale, ok := new(big.Rat).SetString(o.Scale)
	if !ok {
		return nil, fmt.Errorf("scale %q is no decimal number", o.Scale)
	}
	return snmp{o, s, cmp.Or(shown[keyCommunity], "public"), user, scale, host, uint16(port), memory}, nil
}

func (a snmp) ask(ctx context.Context) (r reading, err error) {
	client := &gosnmp.GoSNMP{Target: a.host, Port: a.port, Transport: "udp", Community: a.community,
		Version: gosnmp.Version2c, Context: ctx, Timeout: agentTime, Retries: agentRetries}
	if a.user != nil {
		client.Version, client.SecurityModel, client.MsgFlags, client.SecurityParameters = gosnmp.Version3,
			gosnmp.UserSecurityModel, gosnmp.AuthPriv, a.user
	}
	if err := client.Connect(); err != nil {
		return r, plainly(err)
	}
	defer func() { _ = client.Close() }()
	extra := companionsOf(a.object.OID)
	answer, err := client.Get(append([]string{a.object.OID}, extra.oids()...))
	if err == nil && answer.Error != gosnmp.NoError { // some refuse all for one that they haven't
		extra = companions{}
		answer, err = client.Get([]string{a.object.OID})
	}
	if err := a.check(ctx, answer, err); err != nil {
		return r, err
	}
	a.memory.answered = true
	return a.number(answer.Variables[0], answer.Variables[1:], extra)
}

// check is why an agent's answer has no number. It is nil if there is one.
func (a snmp) check(ctx context.Context, answer *gosnmp.SnmpPacket, err error) error {
	switch {
	case err != nil && silent(err) && a.memory.answered:
		return fmt.Errorf("no answer within %s, asked %d times; it has answered before", agentTime, 1+agentRetries)
	case err != nil && a.user != nil && notAuthentic(err) && a.withoutEncryption(ctx):
		return a.refused(gosnmp.ErrUnknownSecurityLevel)
	case err != nil && a.user != nil:
		return a.refused(err)
	case err != nil && silent(err):
		return fmt.Errorf("no answer within %s, asked %d times: agents don't answer who shows a community that they "+
			"don't know, which is %s here", agentTime, 1+agentRetries, a.shown())
	case err != nil:
		return plainly(err)
	case answer.Error != gosnmp.NoError:
		return fmt.Errorf("it answers %s for %s", answer.Error, a.object.OID)
	case len(answer.Variables) == 0 || answer.Variables[0].Name != a.object.OID:
		return fmt.Errorf("it answers for another object than %s", a.object.OID)
	}
	return nil
}

// number is the reading of an object, with the values of its companions.
func (a snmp) number(object gosnmp.SnmpPDU, rest []gosnmp.SnmpPDU, extra companions) (r reading, err error) {
	current := count{read: time.Now()}
	current.uptime, current.discontinuity, r.pulse = extra.read(rest)
	var number *big.Rat
	kind := report.Gauge
	if current.bits, err = a.bitsOf(object.Type); err != nil {
		return r, err
	}
	if current.bits > 0 {
		var value uint64
		current.raw, kind = gosnmp.ToBigInt(object.Value).Uint64(), report.Counter
		value, r.anew = a.memory.counter.read(current)
		number = new(big.Rat).SetUint64(value)
	} else if number, err = a.read(object); err != nil {
		return r, err
	}
	value, _ := number.Mul(number, a.scale).Float64()
	if math.IsInf(value, 0) {
		return r, fmt.Errorf("object %s is too large a number", a.object.OID)
	}
	r.numbers = []observe.Number{{Name: "value", Part: a.object.OID, Unit: a.object.Unit, Kind: kind, Value: value}}
	return r, nil
}

// refused is why an agent gives a user nothing. An agent sends a report, and no answer, to a user whose clock
// or keys don't fit.
func (a snmp) refused(err error) error {
	secret := "secret " + a.secret.name
	switch {
	case errors.Is(err, gosnmp.ErrUnknownUsername), errors.Is(err, gosnmp.ErrWrongDigest), notAuthentic(err):
		return fmt.Errorf("it doesn't know the user of %s, or not by its %s and %s", secret, keyAuthPassword,
			keyAuthProtocol)
	case errors.Is(err, gosnmp.ErrDecryption):
		return fmt.Errorf("it can't read what is encrypted with %s and %s of %s", keyPrivPassword, keyPrivProtocol,
			secret)
	case errors.Is(err, gosnmp.ErrUnknownSecurityLevel):
		return fmt.Errorf("it knows the user of %s, and gives it no encrypted session (authPriv), which is the only "+
			"kind that is asked for here: give the user a %s on the agent", secret, keyPrivPassword)
	case silent(err):
		return fmt.Errorf("no answer within %s, asked %d times by version 3: it doesn't speak it, or can't read what "+
			"is encrypted with %s and %s of %s", agentTime, 1+agentRetries, keyPrivPassword, keyPrivProtocol, secret)
	}
	return plainly(err)
}

// notAuthentic says that the library received a report without authentication, as for an unknown user or
// security level. The library has no error value for that.
func notAuthentic(err error) bool { return strings.Contains(err.Error(), "not authentic") }

// withoutEncryption says that the agent answers the user where nothing is encrypted. The question is how long
// the agent has run, which is no secret.
func (a snmp) withoutEncryption(ctx context.Context) bool {
	user := &gosnmp.UsmSecurityParameters{UserName: a.user.UserName,
		AuthenticationProtocol:   a.user.AuthenticationProtocol,
		AuthenticationPassphrase: a.user.AuthenticationPassphrase}
	client := &gosnmp.GoSNMP{Target: a.host, Port: a.port, Transport: "udp", Version: gosnmp.Version3,
		SecurityModel: gosnmp.UserSecurityModel, MsgFlags: gosnmp.AuthNoPriv, SecurityParameters: user,
		Context: ctx, Timeout: agentTime, Retries: agentRetries}
	if err := client.Connect(); err != nil {
		return false
	}
	defer func() { _ = client.Close() }()
	_, err := client.Get([]string{sysUpTime})
	return err == nil
}

// leastPassword is how many characters a password of version 3 has at least (RFC 3414).
const leastPassword = 8

// userOf is the user of version 3 that a Secret has, nil if it has none. A Secret with a community is for
// version 2c. Its user without an authPassword is another server's, such as a management controller's. Sessions
// are always authenticated and encrypted.
func userOf(s secret, shown map[string]string) (*gosnmp.UsmSecurityParameters, error) {
	switch {
	case shown[keyAuthPassword] == "" && (shown[keyUser] == "" || shown[keyCommunity] != ""):
		return nil, nil //nolint:nilnil // it is one of version 2c
	case shown[keyAuthPassword] == "":
		return nil, fmt.Errorf("secret %s has %s, and neither %s and %s, which version 3 wants, nor %s, which "+
			"version 2c wants: add either", s.name, keyUser, keyAuthPassword, keyPrivPassword, keyCommunity)
	case shown[keyUser] == "":
		return nil, fmt.Errorf("secret %s has %s, and no %s, which version 3 wants: add it, or for version 2c "+
			"leave %s out", s.name, keyAuthPassword, keyUser, keyAuthPassword)
	}
	auth, ok := map[string]gosnmp.SnmpV3AuthProtocol{"SHA": gosnmp.SHA, "SHA-224": gosnmp.SHA224,
		"SHA-256": gosnmp.SHA256, "SHA-384": gosnmp.SHA384, "SHA-512": gosnmp.SHA512}[cmp.Or(shown[keyAuthProtocol],
		"SHA-256")]
	if !ok {
		return nil, fmt.Errorf("secret %s: %s is none of SHA, SHA-224, SHA-256, SHA-384 and SHA-512", s.name,
			keyAuthProtocol)
	}
	priv, ok := map[string]gosnmp.SnmpV3PrivProtocol{"AES": gosnmp.AES, "AES-192": gosnmp.AES192,
		"AES-256": gosnmp.AES256, "AES-192-C": gosnmp.AES192C,
		"AES-256-C": gosnmp.AES256C}[cmp.Or(shown[keyPrivProtocol], "AES")]
	if !ok {
		return nil, fmt.Errorf("secret %s: %s is none of AES, AES-192, AES-256, AES-192-C and AES-256-C", s.name,
			keyPrivProtocol)
	}
	for _, key := range []string{keyAuthPassword, keyPrivPassword} {
		if len(shown[key]) < leastPassword {
			return nil, fmt.Errorf("secret %s: %s has fewer than %d characters, and version 3 wants as many: "+
				"lengthen it, or for version 2c leave %s out and have %s", s.name, key, leastPassword, keyAuthPassword,
				keyCommunity)
		}
	}
	return &gosnmp.UsmSecurityParameters{UserName: shown[keyUser], AuthenticationProtocol: auth,
		AuthenticationPassphrase: shown[keyAuthPassword], PrivacyProtocol: priv,
		PrivacyPassphrase: shown[keyPrivPassword]}, nil
}

func (a snmp) shown() string {
	if a.secret.name == "" {
		return "public"
	}
	return "that of secret " + a.secret.name
}

// silent says that no answer came. The library has no error value for that.
func silent(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(err.Error(), "request timeout")
}

// read is the number of an object that is no counter, as it stands.
func (a snmp) read(v gosnmp.SnmpPDU) (*big.Rat, error) {
	switch v.Type {
	case gosnmp.NoSuchObject, gosnmp.NoSuchInstance, gosnmp.EndOfMibView:
		return nil, fmt.Errorf("it has no object %s (%s): a table's has the row at its end, and any other .0",
			a.object.OID, v.Type)
	case gosnmp.Gauge32, gosnmp.Integer, gosnmp.Uinteger32, gosnmp.TimeTicks:
		return new(big.Rat).SetInt(gosnmp.ToBigInt(v.Value)), nil
	case gosnmp.OpaqueFloat, gosnmp.OpaqueDouble, gosnmp.OctetString: // some agents have numbers as text, or as floats
		if number, ok := decimal(text(v.Value)); ok {
			return number, nil
		}
	default: // addresses, and the like
	}
	return nil, fmt.Errorf("object %s is a %s that is no number", a.object.OID, v.Type)
}

// mostDigits is how long a number as text may be. A long number, or one with a large exponent, takes seconds
// and megabytes to compute with.
const mostDigits = 64

var plainNumber = regexp.MustCompile(`^[+-]?[0-9]*\.?[0-9]*([eE][+-]?[0-9]{1,3})?$`)

// decimal is the number of a text.
func decimal(text string) (*big.Rat, bool) {
	if len(text) > mostDigits || !plainNumber.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func text(value any) string {
	switch v := value.(type) {
	case []byte:
		return strings.TrimSpace(string(v))
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
