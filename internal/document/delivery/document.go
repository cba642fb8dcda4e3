package delivery

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// decode reads one document of this version, and refuses trailing data. It ignores members that this linerate doesn't
// know, because a member that changed the meaning of others would come with a new version.
func decode(document []byte, target any, version string) error {
	var head struct {
		Version string `json:"version"`
	}
	if err := intake.JSON(document, &head, ofDocument); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if head.Version != version {
		return fmt.Errorf("version is %q, and this linerate reads %q: operator and runner must be of one release",
			head.Version, version)
	}
	return intake.JSON(document, target, ofDocument)
}
