"""What every other package uses: errors, files, workers and bits."""
