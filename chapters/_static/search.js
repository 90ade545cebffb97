// A page opened as a file may not read other files, so a search there names pages and shows no lines of them.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
