// SPDX-License-Identifier: Apache-2.0
#include "capi/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace opscv::capi {
namespace {

using ::testing::HasSubstr;

TEST(Config, TakesJsonObjects) {
  for (const char* text :
       {"{}", " {\n} ", R"({"a":1})", R"({"a":[1,-2.5e+3,0,0.1,1E-9],"b":{"c":null}})",
        R"({"text":"\"\\\/\b\f\n\r\t\u00e9 ü","yes":true,"no":false})", R"({"a":[],"b":{}})"}) {
    EXPECT_TRUE(CheckJsonObject(text).ok()) << text << ": " << CheckJsonObject(text).message();
  }
}

TEST(Config, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "1",
                           "{",
                           "}",
                           "{]",
                           R"({"a"})",
                           R"({"a":})",
                           R"({"a":1,})",
                           R"({a:1})",
                           R"({"a":1 "b":2})",
                           R"({"a":01})",
                           R"({"a":1.})",
                           R"({"a":-})",
                           R"({"a":1e})",
                           R"({"a":.5})",
                           R"({"a":"\x"})",
                           R"({"a":"\u12g4"})",
                           R"({"a":"\u12)",
                           R"({"a":"open)",
                           R"({"a":tru})",
                           R"({"a":[1,]})",
                           R"({"a":[1)",
                           "{\"a\":\"line\nbreak\"}",
                           "{} {}",
                           "{}x",
                           R"({'a':1})"}) {
    EXPECT_FALSE(CheckJsonObject(text).ok()) << text;
  }
}

TEST(Config, SaysWhere) {
  EXPECT_EQ(CheckJsonObject("{\n  \"a\" 1\n}").message(), "line 2, column 7: expected ':'");
  EXPECT_EQ(CheckJsonObject("").message(), "line 1, column 1: expected '{'");
}

TEST(Config, BoundsNesting) {
  std::string deep = "{\"a\":" + std::string(100000, '[');
  EXPECT_THAT(CheckJsonObject(deep).message(), HasSubstr("nesting"));
}

TEST(Config, NeedsNoFile) {
  EXPECT_TRUE(CheckConfigFile(nullptr).ok());
  EXPECT_TRUE(CheckConfigFile("").ok());
}

TEST(Config, SaysWhyAFileIsRefused) {
  EXPECT_THAT(CheckConfigFile("/nowhere/acl.json").message(),
              HasSubstr("'/nowhere/acl.json' cannot be read: No such file or directory"));
  EXPECT_THAT(CheckConfigFile("/").message(), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace opscv::capi
