/* The 13 queries, with an order that leaves no two rows in doubt, and the indexes that every variant has. */
#include "ssb.h"

const char ssb_indexes[] =
    "CREATE INDEX lo_orderdate ON lineorder(lo_orderdate);"
    "CREATE INDEX lo_partkey ON lineorder(lo_partkey);"
    "CREATE INDEX lo_suppkey ON lineorder(lo_suppkey);"
    "CREATE INDEX lo_custkey ON lineorder(lo_custkey);"
    "ANALYZE;";

#define REVENUE_OF_DISCOUNTS \
  "SELECT sum(lo_extendedprice * lo_discount) AS revenue FROM lineorder, date WHERE lo_orderdate = d_datekey AND "
#define REVENUE_BY_BRAND                                                                                         \
  "SELECT sum(lo_revenue), d_year, p_brand1 FROM lineorder, date, part, supplier WHERE lo_orderdate = d_datekey" \
  " AND lo_partkey = p_partkey AND lo_suppkey = s_suppkey AND "
#define BY_BRAND " GROUP BY d_year, p_brand1 ORDER BY d_year, p_brand1"
#define REVENUE_BY(place)                                                         \
  "SELECT c_" place ", s_" place                                                  \
  ", d_year, sum(lo_revenue) AS revenue FROM customer, lineorder, supplier, date" \
  " WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_orderdate = d_datekey AND "
#define BY(place) " GROUP BY c_" place ", s_" place ", d_year ORDER BY d_year, revenue DESC, c_" place ", s_" place
#define PROFIT_BY(columns)                                                                                           \
  "SELECT " columns                                                                                                  \
  ", sum(lo_revenue - lo_supplycost) AS profit FROM date, customer, supplier, part, lineorder"                       \
  " WHERE lo_custkey = c_custkey AND lo_suppkey = s_suppkey AND lo_partkey = p_partkey AND lo_orderdate = d_datekey" \
  " AND c_region = 'AMERICA' AND "
#define TWO_CITIES "c_city IN ('UNITED KI1', 'UNITED KI5') AND s_city IN ('UNITED KI1', 'UNITED KI5')"
#define TWO_MAKERS "s_region = 'AMERICA' AND (p_mfgr = 'MFGR#1' OR p_mfgr = 'MFGR#2')"
#define LAST_YEARS "(d_year = 1997 OR d_year = 1998)"

const char* const ssb_query_names[SSB_QUERIES] = {"Q1.1", "Q1.2", "Q1.3", "Q2.1", "Q2.2", "Q2.3", "Q3.1",
                                                  "Q3.2", "Q3.3", "Q3.4", "Q4.1", "Q4.2", "Q4.3"};

const char* const ssb_queries[SSB_QUERIES] = {
    REVENUE_OF_DISCOUNTS "d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25",
    REVENUE_OF_DISCOUNTS "d_yearmonthnum = 199401 AND lo_discount BETWEEN 4 AND 6 AND lo_quantity BETWEEN 26 AND 35",
    REVENUE_OF_DISCOUNTS
    "d_weeknuminyear = 6 AND d_year = 1994 AND lo_discount BETWEEN 5 AND 7"
    " AND lo_quantity BETWEEN 26 AND 35",
    REVENUE_BY_BRAND "p_category = 'MFGR#12' AND s_region = 'AMERICA'" BY_BRAND,
    REVENUE_BY_BRAND "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228' AND s_region = 'ASIA'" BY_BRAND,
    REVENUE_BY_BRAND "p_brand1 = 'MFGR#2221' AND s_region = 'EUROPE'" BY_BRAND,
    REVENUE_BY("nation") "c_region = 'ASIA' AND s_region = 'ASIA' AND d_year BETWEEN 1992 AND 1997" BY("nation"),
    REVENUE_BY("city") "c_nation = 'UNITED STATES' AND s_nation = 'UNITED STATES' AND d_year BETWEEN 1992 AND 1997" BY(
        "city"),
    REVENUE_BY("city") TWO_CITIES " AND d_year BETWEEN 1992 AND 1997" BY("city"),
    REVENUE_BY("city") TWO_CITIES " AND d_yearmonth = 'Dec1997'" BY("city"),
    PROFIT_BY("d_year, c_nation") TWO_MAKERS " GROUP BY d_year, c_nation ORDER BY d_year, c_nation",
    PROFIT_BY("d_year, s_nation, p_category") TWO_MAKERS
    " AND " LAST_YEARS " GROUP BY d_year, s_nation, p_category ORDER BY d_year, s_nation, p_category",
    PROFIT_BY("d_year, s_city, p_brand1") "s_nation = 'UNITED STATES' AND p_category = 'MFGR#14' AND " LAST_YEARS
                                          " GROUP BY d_year, s_city, p_brand1 ORDER BY d_year, s_city, p_brand1",
};
