package kubectl

import (
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/exit"
)

// absent says that there is no object of a name.
type absent string

func (a absent) Error() string { return string(a) }

// notThere is bad input that names what isn't there.
func notThere(format string, args ...any) error {
	return exit.BadInput("%w", absent(fmt.Sprintf(format, args...)))
}

func isAbsent(err error) bool {
	_, is := errors.AsType[absent](err)
	return is
}
