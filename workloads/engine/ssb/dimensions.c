/* The four dimension tables. */
#include <math.h>

#include "ssb.h"

static const char dimension_schema[] =
    "CREATE TABLE date(d_datekey INTEGER PRIMARY KEY, d_date TEXT, d_dayofweek TEXT, d_month TEXT, d_year INT,"
    " d_yearmonthnum INT, d_yearmonth TEXT, d_daynuminweek INT, d_daynuminmonth INT, d_daynuminyear INT,"
    " d_monthnuminyear INT, d_weeknuminyear INT, d_sellingseason TEXT, d_lastdayinweekfl INT, d_lastdayinmonthfl INT,"
    " d_holidayfl INT, d_weekdayfl INT);"
    "CREATE TABLE customer(c_custkey INTEGER PRIMARY KEY, c_name TEXT, c_address TEXT, c_city TEXT, c_nation TEXT,"
    " c_region TEXT, c_phone TEXT, c_mktsegment TEXT);"
    "CREATE TABLE supplier(s_suppkey INTEGER PRIMARY KEY, s_name TEXT, s_address TEXT, s_city TEXT, s_nation TEXT,"
    " s_region TEXT, s_phone TEXT);"
    "CREATE TABLE part(p_partkey INTEGER PRIMARY KEY, p_name TEXT, p_mfgr TEXT, p_category TEXT, p_brand1 TEXT,"
    " p_color TEXT, p_type TEXT, p_size INT, p_container TEXT);";

static const struct {
  const char *name, *region;
} nations[25] = {
    {"ALGERIA", "AFRICA"},
    {"ARGENTINA", "AMERICA"},
    {"BRAZIL", "AMERICA"},
    {"CANADA", "AMERICA"},
    {"EGYPT", "MIDDLE EAST"},
    {"ETHIOPIA", "AFRICA"},
    {"FRANCE", "EUROPE"},
    {"GERMANY", "EUROPE"},
    {"INDIA", "ASIA"},
    {"INDONESIA", "ASIA"},
    {"IRAN", "MIDDLE EAST"},
    {"IRAQ", "MIDDLE EAST"},
    {"JAPAN", "ASIA"},
    {"JORDAN", "MIDDLE EAST"},
    {"KENYA", "AFRICA"},
    {"MOROCCO", "AFRICA"},
    {"MOZAMBIQUE", "AFRICA"},
    {"PERU", "AMERICA"},
    {"CHINA", "ASIA"},
    {"ROMANIA", "EUROPE"},
    {"SAUDI ARABIA", "MIDDLE EAST"},
    {"VIETNAM", "ASIA"},
    {"RUSSIA", "EUROPE"},
    {"UNITED KINGDOM", "EUROPE"},
    {"UNITED STATES", "AMERICA"},
};

static const char* const segments[5] = {"AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"};
static const char* const colors[16] = {"almond", "azure", "beige", "black", "blue",  "brown", "coral", "cyan",
                                       "forest", "gold",  "green", "ivory", "khaki", "lime",  "navy",  "red"};
static const char* const type_sizes[6] = {"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"};
static const char* const type_finishes[5] = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"};
static const char* const type_metals[5] = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
static const char* const container_sizes[5] = {"SM", "LG", "MED", "JUMBO", "WRAP"};
static const char* const containers[8] = {"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"};
static const char* const months[12] = {"January", "February", "March",     "April",   "May",      "June",
                                       "July",    "August",   "September", "October", "November", "December"};
static const char* const weekdays[7] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const int month_days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

struct ssb_scale ssb_scale_of(int64_t milli_scale) {
  struct ssb_scale scale = {30 * milli_scale, 2 * milli_scale, 200 * milli_scale, 1500 * milli_scale};
  /* From scale factor 1 on the parts grow with its logarithm. */
  if (milli_scale >= 1000) scale.parts = 200000 * (int64_t)floor(1 + log2((double)milli_scale / 1000));
  return scale;
}

int64_t ssb_price(int64_t part) {
  return 90000 + part / 10 % 20001 + 100 * (part % 1000);
}

#define PICK(random, list) ((list)[random_between(random, 0, (int64_t)(sizeof(list) / sizeof *(list)) - 1)])

static const char* selling_season(int month) {
  return month == 11 ? "Christmas" : month < 2 ? "Winter" : month < 4 ? "Spring" : month < 8 ? "Summer" : "Fall";
}

static void add_day(struct database* db, sqlite3_stmt* insert, int year, int month, int day, int day_in_year,
                    int weekday) {
  char date[32], year_month[16];
  int leap_day = month == 1 && year % 4 == 0;
  sqlite3_snprintf(sizeof date, date, "%s %d, %d", months[month], day, year);
  sqlite3_snprintf(sizeof year_month, year_month, "%.3s%d", months[month], year);
  bind_int(insert, 1, year * 10000 + (month + 1) * 100 + day);
  bind_text(insert, 2, date);
  bind_text(insert, 3, weekdays[weekday]);
  bind_text(insert, 4, months[month]);
  bind_int(insert, 5, year);
  bind_int(insert, 6, year * 100 + month + 1);
  bind_text(insert, 7, year_month);
  bind_int(insert, 8, weekday + 1);
  bind_int(insert, 9, day);
  bind_int(insert, 10, day_in_year);
  bind_int(insert, 11, month + 1);
  bind_int(insert, 12, (day_in_year - 1) / 7 + 1);
  bind_text(insert, 13, selling_season(month));
  bind_int(insert, 14, weekday == 6);
  bind_int(insert, 15, day == month_days[month] + leap_day);
  bind_int(insert, 16, (month == 11 && day == 25) || (month == 0 && day == 1));
  bind_int(insert, 17, weekday > 0 && weekday < 6);
  execute(db, insert);
}

static void create_dates(struct database* db, int days[SSB_DAYS]) {
  sqlite3_stmt* insert = prepare(db, "INSERT INTO date VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  int weekday = 3; /* 1992-01-01 was a Wednesday */
  int count = 0;
  for (int year = 1992; year <= 1998; year++) {
    int day_in_year = 0;
    for (int month = 0; month < 12; month++)
      for (int day = 1; day <= month_days[month] + (month == 1 && year % 4 == 0); day++) {
        days[count++] = year * 10000 + (month + 1) * 100 + day;
        add_day(db, insert, year, month, day, ++day_in_year, weekday);
        weekday = (weekday + 1) % 7;
      }
  }
  sqlite3_finalize(insert);
}

/* A customer, who has a market segment, or a supplier, who has none. */
static void add_party(struct database* db, sqlite3_stmt* insert, struct random* random, const char* kind, int64_t key,
                      int has_segment) {
  char name[32], address[32], city[16], phone[24];
  int64_t nation = random_between(random, 0, 24);
  sqlite3_snprintf(sizeof name, name, "%s#%09lld", kind, (long long)key);
  random_text(random, address, (int)random_between(random, 10, 25), "0123456789abcdefghijklmnopqrstuvwxyz ,", 38);
  sqlite3_snprintf(sizeof city, city, "%-9.9s%d", nations[nation].name, (int)random_between(random, 0, 9));
  int area = (int)random_between(random, 100, 999);
  int exchange = (int)random_between(random, 100, 999);
  int line = (int)random_between(random, 1000, 9999);
  sqlite3_snprintf(sizeof phone, phone, "%d-%d-%d-%d", (int)nation + 10, area, exchange, line);
  bind_int(insert, 1, key);
  bind_text(insert, 2, name);
  bind_text(insert, 3, address);
  bind_text(insert, 4, city);
  bind_text(insert, 5, nations[nation].name);
  bind_text(insert, 6, nations[nation].region);
  bind_text(insert, 7, phone);
  if (has_segment) bind_text(insert, 8, PICK(random, segments));
  execute(db, insert);
}

static void add_part(struct database* db, sqlite3_stmt* insert, struct random* random, int64_t key) {
  char name[32], mfgr[16], category[16], brand[16], type[32], container[16];
  const char *color = PICK(random, colors), *second_color = PICK(random, colors);
  int maker = (int)random_between(random, 1, 5);
  int group = (int)random_between(random, 1, 5);
  int number = (int)random_between(random, 1, 40);
  const char *type_size = PICK(random, type_sizes), *finish = PICK(random, type_finishes),
             *metal = PICK(random, type_metals);
  const char *container_size = PICK(random, container_sizes), *box = PICK(random, containers);
  sqlite3_snprintf(sizeof name, name, "%s %s", color, second_color);
  sqlite3_snprintf(sizeof mfgr, mfgr, "MFGR#%d", maker);
  sqlite3_snprintf(sizeof category, category, "MFGR#%d%d", maker, group);
  sqlite3_snprintf(sizeof brand, brand, "MFGR#%d%d%d", maker, group, number);
  sqlite3_snprintf(sizeof type, type, "%s %s %s", type_size, finish, metal);
  sqlite3_snprintf(sizeof container, container, "%s %s", container_size, box);
  bind_int(insert, 1, key);
  bind_text(insert, 2, name);
  bind_text(insert, 3, mfgr);
  bind_text(insert, 4, category);
  bind_text(insert, 5, brand);
  bind_text(insert, 6, color);
  bind_text(insert, 7, type);
  bind_int(insert, 8, random_between(random, 1, 50));
  bind_text(insert, 9, container);
  execute(db, insert);
}

void ssb_create_dimensions(struct database* db, struct random* random, const struct ssb_scale* scale,
                           int days[SSB_DAYS]) {
  run_script(db, dimension_schema);
  create_dates(db, days);
  sqlite3_stmt* insert = prepare(db, "INSERT INTO customer VALUES(?,?,?,?,?,?,?,?)");
  for (int64_t key = 1; key <= scale->customers; key++) add_party(db, insert, random, "Customer", key, 1);
  sqlite3_finalize(insert);
  insert = prepare(db, "INSERT INTO supplier VALUES(?,?,?,?,?,?,?)");
  for (int64_t key = 1; key <= scale->suppliers; key++) add_party(db, insert, random, "Supplier", key, 0);
  sqlite3_finalize(insert);
  insert = prepare(db, "INSERT INTO part VALUES(?,?,?,?,?,?,?,?,?)");
  for (int64_t key = 1; key <= scale->parts; key++) add_part(db, insert, random, key);
  sqlite3_finalize(insert);
}
