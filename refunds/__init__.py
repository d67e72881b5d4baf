"""The only place where money moves: policy, quotes, redeeming, gateways."""
