package softgen

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
)

// badParameters says that a parameter is missing, of the wrong type or out of range.
func badParameters(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeParams, Message: "Bad parameters for method", Specific: fmt.Sprintf(format,
		args...)}
}

// refused is the error for a valid request that can't be carried out.
func refused(format string, args ...any) error {
	return &wire.Error{Code: wire.CodeRefused, Message: "Failed To Execute Method", Specific: fmt.Sprintf(format,
		args...)}
}

// refusedBy is refused with the text of the data path's error.
func refusedBy(err error) error { return refused("%s", err.Error()) }
