package suite

// CalibrationOf is the name of the calibration that a cell is held against; empty: none.
func (m *Matrix) CalibrationOf(cell int) string {
	if by := m.calibrationOf(cell); by >= 0 {
		return m.Cells[by].Name
	}
	return ""
}
