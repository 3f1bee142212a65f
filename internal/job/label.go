package job

import "strings"

// FieldLabel names a field for people: its title in the schema or, without one, its name in words, so that
// dateRangeStart is "Date range start".
func FieldLabel(title, name string) string {
	if title != "" {
		return title
	}
	var out strings.Builder
	for i, r := range strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "-", " ") {
		switch {
		case i == 0:
			out.WriteString(strings.ToUpper(string(r)))
		case r >= 'A' && r <= 'Z':
			out.WriteString(" " + strings.ToLower(string(r)))
		default:
			out.WriteRune(r)
		}
	}
	for short, right := range map[string]string{"Url": "URL", "Id": "ID", "Usd": "USD"} {
		if out.String() == short {
			return right
		}
	}
	return out.String()
}
