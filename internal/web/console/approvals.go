package console

import (
	"net/http"
	"net/url"

	"ringback/internal/job"
)

type approvalsView struct {
	UserID    string
	Approvals []job.Approval
}

func (c *Console) approvals(v *visit) error {
	user := v.QueryParam("user")
	found, err := v.api().Approvals(v.Request().Context(), user)
	if err != nil {
		return err
	}
	return v.render(
		http.StatusOK, "approvals",
		page{Title: "Standing approvals", Tab: "inbox", Data: approvalsView{user, found.Value.Approvals}},
	)
}

func (c *Console) revoke(v *visit, sent url.Values) error {
	if _, err := v.api().Revoke(v.Request().Context(), sent.Get("user"), v.Param("id")); err != nil {
		return err
	}
	return v.see(localPath(sent.Get("back")))
}
