"""Rules against the past: backtest, replay, rebuild, estimates."""
