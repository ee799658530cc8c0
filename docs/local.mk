dist_man_MANS = %D%/pystill.1
EXTRA_DIST += %D%/versions.md
