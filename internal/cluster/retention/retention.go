package retention

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is a kept object.
type Object struct {
	Name string
	UID  string
	// StoredAt is when it was stored, by the clock of the program that did.
	StoredAt time.Time
	// Pinned says that a person wants it to stay. A pinned object doesn't count toward Limits.Count.
	Pinned bool
}

// Limits bound what is kept. The zero value bounds nothing.
type Limits struct {
	// Count is how many there may be. 0 means any number.
	Count int
	// Age is how old one may be. 0 means any age.
	Age time.Duration
}

// Doomed is an object to delete, and why.
type Doomed struct {
	Object
	Reason string
}

// Prune says which objects to delete, oldest first, and when to decide again (zero if time alone changes nothing). It
// keeps the newest, and never deletes a pinned one.
//
//	newest ── kept ── kept ── kept │ too many │ too old ── oldest
//	          └──── Count ───────┘
func Prune(objects []Object, limits Limits, moment time.Time) (doomed []Doomed, next time.Time) {
	loose := slices.DeleteFunc(slices.Clone(objects), func(k Object) bool { return k.Pinned })
	slices.SortFunc(loose, func(a, b Object) int {
		return cmp.Or(b.StoredAt.Compare(a.StoredAt),
			cmp.Compare(a.Name, b.Name))
	})
	for i, k := range loose {
		switch {
		case limits.Count > 0 && i >= limits.Count:
			doomed = append(doomed, Doomed{k, fmt.Sprintf("%d newer ones are kept, and no more than that",
				limits.Count)})
		case limits.Age > 0 && !moment.Before(k.StoredAt.Add(limits.Age)):
			doomed = append(doomed, Doomed{k, "it is older than " + limits.ageText()})
		case limits.Age > 0:
			next = k.StoredAt.Add(limits.Age) // the oldest that stays is the next to be deleted
		}
	}
	slices.Reverse(doomed)
	return doomed, next
}

// Policy are the limits of each namespace.
type Policy struct {
	// Default holds for namespaces that aren't in Namespaces.
	Default    Limits
	Namespaces map[string]Limits
}

// LimitsOf are the limits of a namespace.
func (p Policy) LimitsOf(namespace string) Limits {
	if limits, listed := p.Namespaces[namespace]; listed {
		return limits
	}
	return p.Default
}

const forms = "write a number, an age, or both, such as 200/8760h, 200 or /8760h; 0 bounds nothing"

// ParseLimits reads limits as String writes them, such as "200/8760h", "200", "/8760h", "0".
func ParseLimits(text string) (Limits, error) {
	count, age, _ := strings.Cut(text, "/")
	var l Limits
	var err error
	if count == "" && age == "" {
		return l, fmt.Errorf("%q: %s", text, forms)
	}
	if count != "" {
		if l.Count, err = strconv.Atoi(count); err != nil || l.Count < 0 {
			return Limits{}, fmt.Errorf("%q: %q isn't a number of objects: %s", text, count, forms)
		}
	}
	if age != "" && age != "0" {
		if l.Age, err = time.ParseDuration(age); err != nil || l.Age < time.Minute {
			return Limits{}, fmt.Errorf("%q: %q isn't an age of a minute or more: %s", text, age, forms)
		}
	}
	return l, nil
}

// String is what ParseLimits reads.
func (l Limits) String() string {
	if l.Age == 0 {
		return strconv.Itoa(l.Count)
	}
	return strconv.Itoa(l.Count) + "/" + l.ageText()
}

// ageText is the age without trailing zero units, such as "8760h".
func (l Limits) ageText() string {
	text := l.Age.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText writes String.
func (l Limits) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is ParseLimits.
func (l *Limits) UnmarshalText(text []byte) (err error) {
	*l, err = ParseLimits(string(text))
	return err
}

// ParseNamespaces reads "lab-a=1000/17520h,lab-b=50".
func ParseNamespaces(text string) (map[string]Limits, error) {
	byNamespace := map[string]Limits{}
	for entry := range strings.SplitSeq(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		namespace, limits, found := strings.Cut(entry, "=")
		if !found || namespace == "" {
			return nil, fmt.Errorf("%q: write NAMESPACE=LIMITS, such as lab-a=1000/17520h", entry)
		}
		l, err := ParseLimits(limits)
		if err != nil {
			return nil, fmt.Errorf("namespace %s: %w", namespace, err)
		}
		byNamespace[namespace] = l
	}
	return byNamespace, nil
}

// NamespacesText is what ParseNamespaces reads, in the order of the namespaces' names.
func NamespacesText(limits map[string]Limits) string {
	var entries []string
	for _, namespace := range slices.Sorted(maps.Keys(limits)) {
		entries = append(entries, namespace+"="+limits[namespace].String())
	}
	return strings.Join(entries, ",")
}
