// Package money tests, from outside, budgets, quotas, limits of accounts, and the fair share of each user.
package money
