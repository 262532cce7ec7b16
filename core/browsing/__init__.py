"""Memories as people browse them: pages, timelines, lineages, graphs and origins."""
