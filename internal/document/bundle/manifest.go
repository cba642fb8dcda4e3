package bundle

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Version is the kind and version of a manifest. A reader refuses others.
const Version = "linerate.dev/bundle.v1alpha1"

// Suffix ends the names of bundles.
const Suffix = ".tar.gz"

// manifestName is the manifest's name in the archive, where it comes first.
const manifestName = "manifest.json"

// These bound a bundle: its bytes, those of its members together once they are unpacked, and those of one member.
const (
	MaxFile   = 64 << 20
	MaxTotal  = 512 << 20
	MaxMember = 64 << 20
	maxName   = 512
)

// manifestLimits bound the manifest. A member's entry takes about 400 bytes of text.
var manifestLimits = intake.Limits{Bytes: 16 << 20, Memory: 64 << 20, Elements: 50_000}

// Manifest says what a bundle has, and what was left out of it.
type Manifest struct {
	Version  string `json:"version"`
	Producer string `json:"producer"` // the linerate that packed
	Tests    []Test `json:"tests"`
	// Members are all members but the manifest, in their order.
	Members []Member  `json:"members"`
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// Test is a Report in the bundle.
type Test struct {
	Name   string `json:"name"`
	Report string `json:"report"` // the member that holds its Report
	Plan   string `json:"plan"`   // the member that is its Plan
	// PlanDigest is the SHA-256 of the Plan's member. Method identifies how it measures.
	PlanDigest string `json:"planDigest"`
	Method     string `json:"method"`
	Producer   string `json:"producer"` // the linerate that measured
}

// Member is one file of the archive.
type Member struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// Packed is how it stands in the bundle's file.
	Packed Packed `json:"packed"`
}

// Packed is a part of the bundle's file.
type Packed struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// LeftOut is what a rule removed from a member, or the whole member.
type LeftOut struct {
	Member string `json:"member"`
	// Whole says that the bundle has no such member.
	Whole bool   `json:"whole,omitempty"`
	Rule  string `json:"rule"`
	// Reason is what the rule finds, as in "a private key".
	Reason string `json:"reason"`
	// Places is how often the rule replaced something. It is 0 where the whole member is left out.
	Places int `json:"places,omitempty"`
}

// decodeManifest reads a manifest, and refuses one that can't be of a bundle that Write wrote.
func decodeManifest(text []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := intake.JSON(text, m, manifestLimits); err != nil {
		return nil, err
	}
	if m.Version != Version {
		return nil, fmt.Errorf("version is %q, and this linerate reads %q: use the linerate that wrote it", m.Version,
			Version)
	}
	var total int64
	previous := ""
	for _, member := range m.Members {
		switch err := checkName(member.Name); {
		case err != nil:
			return nil, err
		case member.Name <= previous:
			return nil, fmt.Errorf("member %q comes after %q: each name stands once, in their order", member.Name,
				previous)
		case member.Bytes < 0 || member.Bytes > MaxMember || member.Packed.Bytes < 0:
			return nil, fmt.Errorf("member %s has %d bytes, %d packed: a member has up to %d", member.Name, member.Bytes,
				member.Packed.Bytes, MaxMember)
		}
		previous = member.Name
		if total += member.Bytes; total > MaxTotal {
			return nil, fmt.Errorf("its members have more than %d bytes together", MaxTotal)
		}
	}
	return m, nil
}

// checkName refuses the name of a member that tar would unpack elsewhere, or a terminal would read.
func checkName(name string) error {
	control := strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) || c == '\\' })
	if !fs.ValidPath(name) || name == "." || name == manifestName || control || len(name) > maxName {
		return fmt.Errorf("%.80q can't be a member's name: it is a path within the bundle, without .. and without / "+
			"at its begin, of up to %d bytes", name, maxName)
	}
	return nil
}
