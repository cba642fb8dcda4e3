package sanitize

import (
	"regexp"
	"strings"

	"github.com/linerate-dev/linerate/internal/units/wording"
)

var (
	markup = strings.NewReplacer("\\", `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "_", `\_`,
		"~~", `\~\~`, "`", "\\`", "[", `\[`, "]", `\]`, "@", "&#64;", "\r", " ", "\n", " ")
	// GitHub makes links of addresses, and of what looks like a name or a number of its own, also where their
	// characters are written as entities. So a character that takes no room parts them.
	addresses  = regexp.MustCompile(`(?i)(https?|ftp|mailto|xmpp)(:)`)
	hosts      = regexp.MustCompile(`(?i)(www)(\.)`)
	mentions   = regexp.MustCompile(`(^|[^\pL\pN_])(&#64;)([\pL\pN])`)
	mail       = regexp.MustCompile(`(&#64;)([\pL\pN-]+\.)`)
	references = regexp.MustCompile(`(?i)(#|gh-)(\d)`)
	commits    = regexp.MustCompile(`(?i)\b([0-9a-f]{7})([0-9a-f]{33})\b`)
)

// apart is a space without width.
const spacer = "&#8203;"

// Markdown makes text of what could be markup. A table's cell or a line must not end early, and no name is a tag, a
// link, a mention or a reference.
func Markdown(s string) string {
	s = markup.Replace(wording.Printable(s, '\r', '\n', '\t'))
	s = references.ReplaceAllString(s, "${1}"+spacer+"${2}")
	s = strings.ReplaceAll(s, "&#"+spacer+"64;", "&#64;") // an entity of ours
	s = addresses.ReplaceAllString(s, "${1}"+spacer+"${2}")
	s = hosts.ReplaceAllString(s, "${1}"+spacer+"${2}")
	s = mentions.ReplaceAllString(s, "${1}${2}"+spacer+"${3}")
	s = mail.ReplaceAllString(s, "${1}"+spacer+"${2}")
	return commits.ReplaceAllString(s, "${1}"+spacer+"${2}")
}
