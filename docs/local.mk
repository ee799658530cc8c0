dist_man_MANS = %D%/pystill.1
