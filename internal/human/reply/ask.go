package reply

// asking are the sentences of a language with which a person is asked back.
type asking struct {
	Qualified            string `yaml:"qualified"`
	QualifiedReview      string `yaml:"qualified_review"`
	Unclear              string `yaml:"unclear"`
	Answer               string `yaml:"answer"`
	AnswerOrChange       string `yaml:"answer_or_change"`
	AnswerReview         string `yaml:"answer_review"`
	AnswerOrChangeReview string `yaml:"answer_or_change_review"`
}
